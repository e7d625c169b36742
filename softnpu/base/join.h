#pragma once

#include <thread>

namespace softnpu {

// Whether the calling thread is one that this library started.
inline thread_local bool is_own_thread = false;

// Waits for the end of `thread`, if there is one. Called on that thread itself, by a function of the program that ends
// the process, it lets the thread be: exit() never returns to it.
inline void join(std::thread thread) {
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();
  } else {
    thread.join();
  }
}

}  // namespace softnpu
