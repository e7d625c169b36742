#include "core/peer_socket.h"

#include <c10/util/Exception.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace torch_npu {
namespace {

struct Address {
  explicit Address(const std::string& name) {
    TORCH_CHECK(!name.empty() && name.size() < sizeof un.sun_path, "the name of a socket for shared npu storages has ",
                name.size(), " bytes: it was changed on its way");
    un.sun_family = AF_UNIX;
    std::ranges::copy(name, un.sun_path + 1);  // after a null: an abstract name
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&un); }

  sockaddr_un un{};
  socklen_t size = 0;
};

Descriptor make_socket(int flags) {
  Descriptor created(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  TORCH_CHECK(created.fd() >= 0, "a socket for shared npu storages: ", std::strerror(errno));
  return created;
}

bool is_own_user(int fd, pid_t* pid) {
  ucred found{};
  socklen_t size = sizeof found;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return false;
  *pid = found.pid;
  return found.uid == geteuid();
}

template <typename Call>
ssize_t retried(const Call& call) {
  ssize_t result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

PeerSocket PeerSocket::listen(const std::string& name) {
  constexpr int kBacklog = 128;
  const Address address(name);
  Descriptor created = make_socket(SOCK_NONBLOCK);
  TORCH_CHECK(::bind(created.fd(), address.generic(), address.size) == 0 && ::listen(created.fd(), kBacklog) == 0,
              "a socket for shared npu storages: ", std::strerror(errno));
  return {std::move(created), 0};
}

PeerSocket PeerSocket::connect(const std::string& name, std::chrono::milliseconds timeout) {
  const Address address(name);
  Descriptor created = make_socket(0);
  const timeval limit{static_cast<time_t>(timeout.count() / 1000),
                      static_cast<suseconds_t>(timeout.count() % 1000 * 1000)};
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    (void)setsockopt(created.fd(), SOL_SOCKET, option, &limit, sizeof limit);
  }
  TORCH_CHECK(retried([&] { return ::connect(created.fd(), address.generic(), address.size); }) == 0,
              "the process that sent an npu tensor cannot be reached (", std::strerror(errno),
              "): it has to live until its tensors were received");
  pid_t peer = 0;
  TORCH_CHECK(is_own_user(created.fd(), &peer), "process ", peer,
              ", which answers for an npu tensor's sender, belongs to ", "another user");
  return {std::move(created), peer};
}

PeerSocket PeerSocket::accept() const {
  Descriptor created(
      static_cast<int>(retried([&] { return ::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); })));
  pid_t peer = 0;
  if (created.fd() < 0 || !is_own_user(created.fd(), &peer)) return {};
  return {std::move(created), peer};
}

bool PeerSocket::send(const void* message, std::size_t size) const {
  return retried([&] { return ::send(fd(), message, size, MSG_NOSIGNAL); }) == static_cast<ssize_t>(size);
}

bool PeerSocket::receive(void* message, std::size_t size) const {
  // MSG_TRUNC: the result is the message's own size.
  return retried([&] { return ::recv(fd(), message, size, MSG_TRUNC); }) == static_cast<ssize_t>(size);
}

}  // namespace torch_npu
