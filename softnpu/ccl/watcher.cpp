#include "ccl/watcher.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/no_destroy.h"

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
    ~AtExit() { Watcher::get().thread_.stop(); }
  } at_exit;
  return watcher.get();
}

Status Watcher::start() {
  return thread_.start([this] { run(); });
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
    parked.waiting->request_wakeup();
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
  std::vector<pollfd> files;
  files.reserve(peers.size() + 1);
  for (const auto& peer : peers) files.push_back({peer->process(), POLLIN, 0});
  if (!thread_.sleep(&files, milliseconds_until(until))) return;
  for (size_t i = 0; i < peers.size(); ++i) {
    if (files[i].revents != 0) peers[i]->set_ended();
  }
}

void Watcher::run() {
  while (!thread_.is_stopping()) {
    auto next = Clock::time_point::max();
    {
      std::lock_guard lock(mutex_);
      next = resume_ready();
    }
    sleep(next);
  }
}

}  // namespace softnpu::ccl
