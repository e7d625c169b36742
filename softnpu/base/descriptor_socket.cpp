#include "base/descriptor_socket.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace softnpu {
namespace {

constexpr int kBacklog = 128;

Status failed(const char* call) {
  return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, text("a socket between processes: ", call, ": ", std::strerror(errno))};
}

// A message with its boundaries, in order: SOCK_SEQPACKET.
File make_socket(int flags) { return File(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0)); }

Status address_of(std::string_view name, sockaddr_un* out, socklen_t* size) {
  *out = {};
  out->sun_family = AF_UNIX;
  // The first byte stays 0: an abstract name.
  if (name.empty() || name.size() >= sizeof out->sun_path) {
    return {ACL_ERROR_RT_PARAM_INVALID,
            text("a socket's name has 1 to ", sizeof out->sun_path - 1, " bytes, not ", name.size())};
  }
  std::ranges::copy(name, out->sun_path + 1);
  *size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return Status::ok();
}

// The process at the other end; an error if it is another user's.
Status credentials(int fd, pid_t* pid) {
  ucred found{};
  socklen_t size = sizeof found;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return failed("getsockopt");
  if (found.uid != geteuid()) {
    return {ACL_ERROR_RT_NO_PERMISSION, text("process ", found.pid, " belongs to user ", found.uid,
                                             ", this one to user ", geteuid(), ": only processes of one user share")};
  }
  *pid = found.pid;
  return Status::ok();
}

Status limit(int fd, std::chrono::milliseconds timeout) {
  timeval time{};
  time.tv_sec = static_cast<time_t>(timeout.count() / 1000);
  time.tv_usec = static_cast<suseconds_t>(timeout.count() % 1000 * 1000);
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    if (setsockopt(fd, SOL_SOCKET, option, &time, sizeof time) != 0) return failed("setsockopt");
  }
  return Status::ok();
}

// Room for the descriptors of one message, aligned as the kernel's headers ask.
struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(DescriptorSocket::kMaxDescriptors * sizeof(int))> bytes{};
};

msghdr header(iovec* data, Control* control, size_t control_size) {
  msghdr created{};
  created.msg_iov = data;
  created.msg_iovlen = 1;
  created.msg_control = control_size == 0 ? nullptr : control->bytes.data();
  created.msg_controllen = control_size;
  return created;
}

// Owns what arrived, even if the message turns out to be bad.
void take_descriptors(msghdr* message, std::vector<File>* out) {
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part != nullptr; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      out->emplace_back(fd);
    }
  }
}

template <typename Call>
auto retried(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

Status DescriptorSocket::listen(std::string_view name, DescriptorSocket* out) {
  sockaddr_un address{};
  socklen_t size = 0;
  SOFTNPU_RETURN_IF_ERROR(address_of(name, &address, &size));
  File file = make_socket(SOCK_NONBLOCK);
  if (file.fd() < 0) return failed("socket");
  if (::bind(file.fd(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return failed("bind");
  if (::listen(file.fd(), kBacklog) != 0) return failed("listen");
  *out = DescriptorSocket(std::move(file), 0);
  return Status::ok();
}

Status DescriptorSocket::connect(std::string_view name, std::chrono::milliseconds timeout, DescriptorSocket* out) {
  sockaddr_un address{};
  socklen_t size = 0;
  SOFTNPU_RETURN_IF_ERROR(address_of(name, &address, &size));
  File file = make_socket(0);
  if (file.fd() < 0) return failed("socket");
  SOFTNPU_RETURN_IF_ERROR(limit(file.fd(), timeout));
  if (retried([&] { return ::connect(file.fd(), reinterpret_cast<const sockaddr*>(&address), size); }) != 0) {
    return failed("connect");
  }
  pid_t peer = 0;
  SOFTNPU_RETURN_IF_ERROR(credentials(file.fd(), &peer));
  *out = DescriptorSocket(std::move(file), peer);
  return Status::ok();
}

Status DescriptorSocket::accept(DescriptorSocket* out) const {
  *out = {};
  File file(retried([&] { return ::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); }));
  if (file.fd() < 0) {
    const bool is_none = errno == EAGAIN || errno == EWOULDBLOCK || errno == ECONNABORTED;
    return is_none ? Status::ok() : failed("accept");
  }
  pid_t peer = 0;
  SOFTNPU_RETURN_IF_ERROR(credentials(file.fd(), &peer));
  *out = DescriptorSocket(std::move(file), peer);
  return Status::ok();
}

Status DescriptorSocket::send(std::span<const std::byte> message, std::span<const int> descriptors) const {
  if (descriptors.size() > kMaxDescriptors) {
    return {ACL_ERROR_RT_PARAM_INVALID, text(descriptors.size(), " descriptors in one message")};
  }
  iovec data{const_cast<std::byte*>(message.data()), message.size()};
  Control control;
  msghdr sent = header(&data, &control, descriptors.empty() ? 0 : CMSG_SPACE(descriptors.size_bytes()));
  if (cmsghdr* part = CMSG_FIRSTHDR(&sent)) {
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
  }
  // Without a signal if the peer is gone.
  const auto count = retried([&] { return ::sendmsg(fd(), &sent, MSG_NOSIGNAL); });
  return count == static_cast<ssize_t>(message.size()) ? Status::ok() : failed("send");
}

Status DescriptorSocket::receive(std::span<std::byte> room, size_t* size, std::vector<File>* descriptors) const {
  *size = 0;
  descriptors->clear();
  descriptors->reserve(kMaxDescriptors);  // nothing below throws while descriptors have no owner
  iovec data{room.data(), room.size()};
  Control control;
  msghdr got = header(&data, &control, control.bytes.size());
  const auto take = [&] { return retried([&] { return ::recvmsg(fd(), &got, MSG_CMSG_CLOEXEC); }); };
  auto count = take();
  // The other end closed with messages unread: said once, before what it sent. A second call takes that, or the end.
  if (count < 0 && errno == ECONNRESET) count = take();
  if (count < 0) return failed("receive");
  take_descriptors(&got, descriptors);
  if ((got.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    descriptors->clear();
    return {ACL_ERROR_RT_PARAM_INVALID, text("process ", peer_, " sent a message of more than ", room.size(),
                                             " bytes or ", kMaxDescriptors, " descriptors")};
  }
  *size = static_cast<size_t>(count);
  return Status::ok();
}

}  // namespace softnpu
