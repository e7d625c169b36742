#include "ccl/rendezvous_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <system_error>

#include "base/join.h"
#include "base/no_destroy.h"
#include "base/text.h"
#include "ccl/peer.h"

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
    ~AtExit() { RendezvousServer::get().stop(); }
  } at_exit;
  return server.get();
}

Status RendezvousServer::start() {
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
            text("the thread that other ranks connect to cannot be started: ", e.what())};
  }
  pid_ = static_cast<int32_t>(getpid());
  return Status::ok();
}

Status RendezvousServer::open(const RootInfo& info, std::chrono::seconds timeout) {
  std::optional<Rendezvous> rendezvous;
  SOFTNPU_RETURN_IF_ERROR(Rendezvous::open(info, timeout, &rendezvous));
  {
    std::lock_guard lock(mutex_);
    SOFTNPU_RETURN_IF_ERROR(start());
    arrivals_.push_back(std::move(*rendezvous));
  }
  ring_bell(bell_.fd());
  return Status::ok();
}

void RendezvousServer::run() {
  std::vector<Rendezvous> open;
  while (true) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
      std::ranges::move(arrivals_, std::back_inserter(open));
      arrivals_.clear();
    }
    std::erase_if(open, [](Rendezvous& rendezvous) { return rendezvous.serve(); });
    std::vector<pollfd> files = {{bell_.fd(), POLLIN, 0}};
    for (const Rendezvous& rendezvous : open) rendezvous.add_files(&files);
    if (::poll(files.data(), files.size(), pause_for(open)) > 0 && files.front().revents != 0) {
      uint64_t rings = 0;
      [[maybe_unused]] const auto count = ::read(bell_.fd(), &rings, sizeof rings);
    }
  }
}

void RendezvousServer::stop() {
  std::thread thread;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    if (pid_ != static_cast<int32_t>(getpid())) return;  // a forked child does not have the thread
    thread.swap(thread_);
  }
  ring_bell(bell_.fd());
  join(std::move(thread));
}

}  // namespace softnpu::ccl
