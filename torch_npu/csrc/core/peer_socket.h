#pragma once
// Unix sockets between processes of one user, which pass short messages. The kernel tells who the other end is.

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>

namespace torch_npu {

// Owns a file descriptor; -1 if there is none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int fd() const { return fd_; }

 private:
  int fd_;
};

class PeerSocket {
 public:
  PeerSocket() = default;  // no socket

  // Listens at `name` in the abstract namespace, which has no files. Throws if another socket has it.
  static PeerSocket listen(const std::string& name);
  // Connects to a listener of the same user; messages that take longer than `timeout` fail. Throws.
  static PeerSocket connect(const std::string& name, std::chrono::milliseconds timeout);
  // The next connection, whose messages do not block. No socket if none waits, or if it was another user's.
  PeerSocket accept() const;

  // False if the peer is gone, does not answer in time, or its message has another size.
  bool send(const void* message, std::size_t size) const;
  bool receive(void* message, std::size_t size) const;

  pid_t peer() const { return peer_; }
  int fd() const { return file_.fd(); }

 private:
  PeerSocket(Descriptor file, pid_t peer) : file_(std::move(file)), peer_(peer) {}

  Descriptor file_;
  pid_t peer_ = 0;
};

}  // namespace torch_npu
