#include "ccl/rendezvous_server.h"

#include <poll.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/no_destroy.h"

namespace softnpu::ccl {
namespace {

using Clock = Rendezvous::Clock;

// poll()'s milliseconds until the first deadline, at most one second.
int pause_for(const std::vector<Rendezvous>& open) {
  constexpr std::chrono::milliseconds kLongest(1000);
  auto next = Clock::time_point::max();
  for (const Rendezvous& rendezvous : open) next = std::min(next, rendezvous.deadline());
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), kLongest).count());
}

}  // namespace

RendezvousServer& RendezvousServer::get() {
  static NoDestroy<RendezvousServer> server;
  static const struct AtExit {
    ~AtExit() { RendezvousServer::get().thread_.stop(); }
  } at_exit;
  return server.get();
}

Status RendezvousServer::open(const RootInfo& info, std::chrono::seconds timeout) {
  std::optional<Rendezvous> rendezvous;
  SOFTNPU_RETURN_IF_ERROR(Rendezvous::open(info, timeout, &rendezvous));
  SOFTNPU_RETURN_IF_ERROR(thread_.start([this] { run(); }));
  {
    std::lock_guard lock(mutex_);
    arrivals_.push_back(std::move(*rendezvous));
  }
  thread_.ring();
  return Status::ok();
}

void RendezvousServer::run() {
  std::vector<Rendezvous> open;
  while (!thread_.is_stopping()) {
    {
      std::lock_guard lock(mutex_);
      std::ranges::move(arrivals_, std::back_inserter(open));
      arrivals_.clear();
    }
    std::erase_if(open, [](Rendezvous& rendezvous) { return rendezvous.serve(); });
    std::vector<pollfd> files;
    for (const Rendezvous& rendezvous : open) rendezvous.add_files(&files);
    thread_.sleep(&files, pause_for(open));
  }
}

}  // namespace softnpu::ccl
