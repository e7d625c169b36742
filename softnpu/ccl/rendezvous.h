#pragma once
// The rendezvous of one communicator's ranks: a listening socket and the ranks that have connected so far. Not
// thread-safe.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor_socket.h"
#include "ccl/messages.h"
#include "ccl/root_info.h"

struct pollfd;

namespace softnpu::ccl {

class Rendezvous {
 public:
  using Clock = std::chrono::steady_clock;

  // Listens. `timeout`: how long the first rank waits for the last one, Settings::kForever for no limit.
  static Status open(const RootInfo& info, std::chrono::seconds timeout, std::optional<Rendezvous>* out);

  // What poll() has to watch.
  void add_files(std::vector<pollfd>* files) const;
  // When serve() has to be called even if nothing has come; max() for never.
  Clock::time_point deadline() const { return deadline_; }
  // Reads what has come. True when the rendezvous is over: all ranks know each other, or why not.
  bool serve();

 private:
  struct Connection {
    DescriptorSocket socket;
    bool has_spoken = false;
    Hello hello;
    std::vector<File> files;
  };

  Rendezvous(RootInfo info, DescriptorSocket listener, std::chrono::seconds timeout)
      : info_(std::move(info)), listener_(std::move(listener)), timeout_(timeout) {}

  void accept_connections();
  // Reads a connection's Hello. Fails where it makes the rendezvous fail; connections without the secret are sent away.
  Status hear(Connection* connection);
  Status admit(const Connection& connection) const;
  bool is_complete() const;
  // Tells all ranks about each other.
  Status introduce();
  void fail(const Status& status);
  // "ranks 1 and 3".
  std::string missing() const;

  RootInfo info_;
  DescriptorSocket listener_;
  std::chrono::seconds timeout_;
  Clock::time_point deadline_ = Clock::time_point::max();
  uint32_t ranks_ = 0;  // 0 until the first rank has come
  std::vector<Connection> connections_;
};

}  // namespace softnpu::ccl
