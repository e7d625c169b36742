#include "ccl/rendezvous.h"

#include <poll.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "ccl/control.h"
#include "ccl/settings.h"

namespace softnpu::ccl {

Status Rendezvous::open(const RootInfo& info, std::chrono::seconds timeout, std::optional<Rendezvous>* out) {
  DescriptorSocket listener;
  SOFTNPU_RETURN_IF_ERROR(DescriptorSocket::listen(info.name, &listener));
  *out = Rendezvous(info, std::move(listener), timeout);
  return Status::ok();
}

void Rendezvous::add_files(std::vector<pollfd>* files) const {
  if (listener_.fd() >= 0) files->push_back({listener_.fd(), POLLIN, 0});
  for (const Connection& connection : connections_) files->push_back({connection.socket.fd(), POLLIN, 0});
}

bool Rendezvous::serve() {
  accept_connections();
  Status status;
  for (Connection& connection : connections_) {
    if (status = hear(&connection); !status.is_ok()) break;
  }
  std::erase_if(connections_, [](const Connection& connection) { return connection.socket.fd() < 0; });
  if (status.is_ok() && is_complete()) {
    status = introduce();
    if (status.is_ok()) return true;
  }
  if (status.is_ok() && Clock::now() >= deadline_) {
    status = {ACL_ERROR_RT_TASK_TIMEOUT,
              text(missing(), " of ", ranks_, " did not come within ", timeout_.count(), " s (HCCL_CONNECT_TIMEOUT)")};
  }
  if (status.is_ok()) return false;
  fail(status);
  return true;
}

void Rendezvous::accept_connections() {
  while (true) {
    DescriptorSocket socket;
    const Status status = listener_.accept(&socket);
    if (!status.is_ok()) continue;  // a process of another user, refused
    if (socket.fd() < 0) return;
    connections_.push_back({std::move(socket), false, {}, {}});
  }
}

Status Rendezvous::hear(Connection* connection) {
  pollfd file{connection->socket.fd(), POLLIN, 0};
  if (::poll(&file, 1, 0) <= 0) return Status::ok();
  Hello hello;
  std::vector<File> files;
  size_t size = 0;
  const Status status = connection->socket.receive(room_of(&hello), &size, &files);
  const bool is_gone = !status.is_ok() || size == 0;
  if (connection->has_spoken) {
    if (!is_gone) return Status::ok();  // it has nothing to add
    return {ACL_ERROR_RT_SUSPECT_REMOTE_ERROR, text("rank ", connection->hello.id, " (process ",
                                                    connection->socket.peer(), ") left before all ranks had come")};
  }
  const bool is_rank = !is_gone && size == sizeof hello && hello.magic == Hello::kMagic &&
                       same_secret(hello.secret, info_.secret) && files.size() == Hello::kFiles;
  if (!is_rank) {
    connection->socket = DescriptorSocket();
    return Status::ok();
  }
  connection->hello = hello;
  SOFTNPU_RETURN_IF_ERROR(admit(*connection));
  connection->files = std::move(files);
  connection->has_spoken = true;
  if (ranks_ == 0 && timeout_ != Settings::kForever) deadline_ = Clock::now() + timeout_;
  ranks_ = hello.ranks;
  return Status::ok();
}

Status Rendezvous::admit(const Connection& connection) const {
  const Hello& hello = connection.hello;
  if (hello.ranks == 0 || hello.ranks > kMaxRanks || hello.rank >= hello.ranks) {
    return {ACL_ERROR_INVALID_PARAM, text("rank ", hello.rank, " of ", hello.ranks, ": there are 1 to ", kMaxRanks)};
  }
  if (ranks_ != 0 && hello.ranks != ranks_) {
    return {ACL_ERROR_INVALID_PARAM,
            text("rank ", hello.rank, " says that there are ", hello.ranks, " ranks, others say ", ranks_)};
  }
  const bool is_taken = std::ranges::any_of(
      connections_, [&](const Connection& other) { return other.has_spoken && other.hello.rank == hello.rank; });
  if (is_taken) return {ACL_ERROR_INVALID_PARAM, text("two processes say that they are rank ", hello.rank)};
  return Status::ok();
}

bool Rendezvous::is_complete() const {
  return ranks_ != 0 && static_cast<size_t>(std::ranges::count_if(connections_, &Connection::has_spoken)) == ranks_;
}

Status Rendezvous::introduce() {
  std::erase_if(connections_, [](const Connection& connection) { return !connection.has_spoken; });
  std::ranges::sort(connections_, {}, [](const Connection& connection) { return connection.hello.rank; });
  std::shared_ptr<ControlArea> control;
  SOFTNPU_RETURN_IF_ERROR(ControlArea::create(ranks_, &control));
  // A rank that hears the admission may meet others at this name again.
  listener_ = DescriptorSocket();
  Admission admission;
  admission.is_good = 1;
  const Hello& first = connections_.front().hello;
  const bool is_named = first.name.front() != '\0';
  const std::string name =
      is_named ? std::string(first.name.data(), strnlen(first.name.data(), first.name.size() - 1)) : info_.name;
  name.copy(admission.name.data(), admission.name.size() - 1);
  const int control_file = control->fd();
  for (const Connection& connection : connections_) {
    // A rank that is gone by now is found by the others: they watch its process.
    (void)connection.socket.send(bytes_of(admission), {&control_file, 1});
    for (const Connection& other : connections_) {
      const Introduction introduction{other.hello.rank, other.hello.pid, other.hello.token, other.hello.device,
                                      other.hello.memory_bytes};
      const std::array<int, Hello::kFiles> files = {other.files[0].fd(), other.files[1].fd(), other.files[2].fd()};
      (void)connection.socket.send(bytes_of(introduction), files);
    }
  }
  return Status::ok();
}

void Rendezvous::fail(const Status& status) {
  listener_ = DescriptorSocket();
  Admission admission;
  status.message().copy(admission.reason.data(), admission.reason.size() - 1);
  for (const Connection& connection : connections_) (void)connection.socket.send(bytes_of(admission));
}

std::string Rendezvous::missing() const {
  std::vector<uint32_t> absent;
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    const bool is_here = std::ranges::any_of(connections_, [&](const Connection& connection) {
      return connection.has_spoken && connection.hello.rank == rank;
    });
    if (!is_here) absent.push_back(rank);
  }
  std::string out = absent.size() == 1 ? "rank" : "ranks";
  for (size_t i = 0; i < absent.size(); ++i) {
    out += text(i == 0 ? " " : i + 1 == absent.size() ? " and " : ", ", absent[i]);
  }
  return out;
}

}  // namespace softnpu::ccl
