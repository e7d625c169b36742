#pragma once

#include <thread>

namespace softnpu {

// Whether this library started the calling thread.
inline thread_local bool is_own_thread = false;

// Joins `thread`, if it is joinable. A function of the program that ends the process may call it on that thread itself:
// it is then detached, since exit() never returns to it.
inline void join(std::thread thread) {
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();
  } else {
    thread.join();
  }
}

}  // namespace softnpu
