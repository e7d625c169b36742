#include "ccl/watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/join.h"
#include "base/no_destroy.h"
#include "base/text.h"

namespace softnpu::ccl {
namespace {

using Clock = Waiting::Clock;

// poll()'s milliseconds until `time`, rounded up; negative for never.
int milliseconds_until(Clock::time_point time) {
  constexpr std::chrono::milliseconds kLongest(60'000);
  if (time == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - Clock::now());
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), kLongest).count());
}

}  // namespace

Watcher& Watcher::get() {
  static NoDestroy<Watcher> watcher;
  static const struct AtExit {
    ~AtExit() { Watcher::get().stop(); }
  } at_exit;
  return watcher.get();
}

Status Watcher::start() {
  std::lock_guard lock(mutex_);
  if (stopping_) return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "the process ends"};
  if (thread_.joinable()) return Status::ok();
  if (bell_.fd() < 0) bell_ = File(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (bell_.fd() < 0) return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, text("eventfd: ", std::strerror(errno))};
  try {
    thread_ = std::thread([this] {
      is_own_thread = true;
      run();
    });
  } catch (const std::system_error& e) {
    return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
            text("the thread that watches other ranks cannot be started: ", e.what())};
  }
  pid_ = static_cast<int32_t>(getpid());
  return Status::ok();
}

void Watcher::park(Waiting* waiting, softnpuTurn* turn) {
  {
    std::lock_guard lock(mutex_);
    parked_.push_back({waiting, turn});
  }
  ring();
}

void Watcher::forget(Waiting* waiting) {
  std::lock_guard lock(mutex_);
  std::erase_if(parked_, [&](const Parked& parked) { return parked.waiting == waiting; });
}

void Watcher::watch(const std::shared_ptr<Peer>& peer) {
  {
    std::lock_guard lock(mutex_);
    peers_.push_back(peer);
  }
  ring();
}

Clock::time_point Watcher::resume_ready() {
  auto next = Clock::time_point::max();
  std::erase_if(parked_, [&](const Parked& parked) {
    parked.waiting->ask_for_bell();
    const auto deadline = parked.waiting->deadline();
    if (!parked.waiting->is_over()) {
      next = std::min(next, deadline);
      return false;
    }
    softnpuResume(parked.turn);
    return true;
  });
  return next;
}

void Watcher::sleep(Clock::time_point until) {
  std::vector<std::shared_ptr<Peer>> peers;
  {
    std::lock_guard lock(mutex_);
    std::erase_if(peers_, [](const auto& peer) { return peer.expired(); });
    for (const auto& peer : peers_) {
      if (auto live = peer.lock(); live != nullptr && !live->has_ended()) peers.push_back(std::move(live));
    }
  }
  std::vector<pollfd> files = {{bell_.fd(), POLLIN, 0}};
  for (const auto& peer : peers) files.push_back({peer->process(), POLLIN, 0});
  if (::poll(files.data(), files.size(), milliseconds_until(until)) <= 0) return;
  if (files.front().revents != 0) {
    uint64_t rings = 0;
    [[maybe_unused]] const auto count = ::read(bell_.fd(), &rings, sizeof rings);
  }
  for (size_t i = 0; i < peers.size(); ++i) {
    if (files[i + 1].revents != 0) peers[i]->set_ended();
  }
}

void Watcher::run() {
  while (true) {
    auto next = Clock::time_point::max();
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
      next = resume_ready();
    }
    sleep(next);
  }
}

void Watcher::stop() {
  std::thread thread;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    if (pid_ != static_cast<int32_t>(getpid())) return;  // a forked child does not have the thread
    thread.swap(thread_);
  }
  ring();
  join(std::move(thread));
}

}  // namespace softnpu::ccl
