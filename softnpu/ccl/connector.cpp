#include "ccl/connector.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/no_destroy.h"
#include "ccl/rendezvous_server.h"

namespace softnpu::ccl {
namespace {

// A listener may end between a rank's failure to listen and its connection: it tries again, and gives up after a
// second.
constexpr int kPauseMilliseconds = 10;
constexpr uint32_t kAttempts = 100;

bool is_readable(const DescriptorSocket& socket) {
  pollfd file{socket.fd(), POLLIN, 0};
  return ::poll(&file, 1, 0) > 0;
}

}  // namespace

Connector& Connector::get() {
  RendezvousServer::get();  // its thread ends after this one's
  static NoDestroy<Connector> connector;
  static const struct AtExit {
    ~AtExit() { Connector::get().thread_.stop(); }
  } at_exit;
  return connector.get();
}

Status Connector::add(const std::shared_ptr<Communicator>& comm, RankConfig self) {
  SOFTNPU_RETURN_IF_ERROR(thread_.start([this] { run(); }));
  {
    std::lock_guard lock(mutex_);
    arrivals_.push_back({comm, comm->info(), std::move(self), {}, 0});
  }
  ring();
  return Status::ok();
}

Status Connector::connect(Pending* pending) {
  const Status listening = RendezvousServer::get().open(pending->info, Settings::kForever);
  DescriptorSocket socket;
  const Status status = begin_join(pending->info, pending->self, &socket);
  if (status.is_ok()) pending->socket = std::move(socket);
  return status.is_ok() || listening.is_ok() ? status
                                             : Status(status.code(), status.message() + "; " + listening.message());
}

bool Connector::proceed(Pending* pending) {
  const std::shared_ptr<Communicator> comm = pending->comm.lock();
  if (comm == nullptr || comm->has_failed()) return true;
  Status status;
  if (pending->socket.fd() < 0) {
    status = connect(pending);
    if (!status.is_ok() && ++pending->attempts < kAttempts) return false;
  } else if (is_readable(pending->socket)) {
    Membership membership;
    status = finish_join(pending->self, pending->socket, &membership);
    if (status.is_ok()) {
      comm->connect(std::move(membership));
      return true;
    }
  }
  if (!status.is_ok()) comm->fail(status);
  return !status.is_ok();
}

void Connector::run() {
  std::vector<Pending> open;
  while (!thread_.is_stopping()) {
    {
      std::lock_guard lock(mutex_);
      std::ranges::move(arrivals_, std::back_inserter(open));
      arrivals_.clear();
    }
    std::erase_if(open, [](Pending& pending) { return proceed(&pending); });
    std::vector<pollfd> files;
    bool is_waiting_to_connect = false;
    for (const Pending& pending : open) {
      if (pending.socket.fd() < 0) is_waiting_to_connect = true;
      if (pending.socket.fd() >= 0) files.push_back({pending.socket.fd(), POLLIN, 0});
    }
    thread_.sleep(&files, is_waiting_to_connect ? kPauseMilliseconds : -1);
  }
}

}  // namespace softnpu::ccl
