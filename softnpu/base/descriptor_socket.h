#pragma once
// Unix sockets between processes of one user, which pass messages and file descriptors. Both ends see only processes of
// their own user: the kernel tells who the other one is, not a message.

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/status.h"

namespace softnpu {

class DescriptorSocket {
 public:
  // The most descriptors of one message.
  static constexpr size_t kMaxDescriptors = 16;

  // No socket.
  DescriptorSocket() = default;

  // Listens at `name` in the abstract namespace, without a file: the name is free again when the process ends. Fails if
  // another socket has it.
  static Status listen(std::string_view name, DescriptorSocket* out);

  // Connects to a listener of the same user. From now on a send() or receive() that takes longer than `timeout` fails.
  static Status connect(std::string_view name, std::chrono::milliseconds timeout, DescriptorSocket* out);

  // The next connection to this listener; no socket if none waits. Connections of other users are refused. Its sends
  // and receives do not block.
  Status accept(DescriptorSocket* out) const;

  // The process at the other end, when it connected or began to listen.
  pid_t peer() const { return peer_; }

  // Sends one message, whole. The peer gets duplicates of `descriptors`.
  Status send(std::span<const std::byte> message, std::span<const int> descriptors = {}) const;

  // Receives one message of at most `room` bytes: `size` is its length, 0 if the peer has closed its end. Longer ones,
  // and those with more descriptors than kMaxDescriptors, are errors.
  Status receive(std::span<std::byte> room, size_t* size, std::vector<File>* descriptors) const;

  // For poll(); -1 without a socket.
  int fd() const { return file_.fd(); }

 private:
  DescriptorSocket(File file, pid_t peer) : file_(std::move(file)), peer_(peer) {}

  File file_;
  pid_t peer_ = 0;
};

}  // namespace softnpu
