#include "runtime/stream/poller.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/own_thread.h"

namespace softnpu {
namespace {

using std::chrono::microseconds;

constexpr microseconds kShortest{20};
constexpr microseconds kLongest{1000};

}  // namespace

void Poller::watch(std::function<bool()> done) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    if (!thread_.joinable()) thread_ = start_own_thread([this] { run(); });
    arrivals_.push_back(std::move(done));
  }
  arrived_.notify_one();
}

void Poller::stop() {
  std::thread thread;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    arrivals_.clear();
    thread.swap(thread_);
  }
  arrived_.notify_one();
  join(std::move(thread));
}

void Poller::run() {
  std::list<std::function<bool()>> watched;
  microseconds pause = kShortest;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      auto awake = [&] { return stopping_ || !arrivals_.empty(); };
      if (watched.empty()) {
        arrived_.wait(lock, awake);
      } else {
        arrived_.wait_for(lock, pause, awake);
      }
      if (stopping_) return;
      if (!arrivals_.empty()) pause = kShortest;
      watched.splice(watched.end(), arrivals_);
    }
    if (std::erase_if(watched, [](const auto& done) { return done(); }) > 0) pause = kShortest;
    pause = std::min(pause * 2, kLongest);
  }
}

}  // namespace softnpu
