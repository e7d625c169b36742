#pragma once
// The place where the ranks of one communicator meet: a listening socket and those who have come so far. Not
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

class Meeting {
 public:
  using Clock = std::chrono::steady_clock;

  // Listens. `patience`: how long the first rank waits for the last one.
  static Status open(const RootInfo& info, std::chrono::seconds patience, std::optional<Meeting>* out);

  // What poll() has to watch.
  void add_files(std::vector<pollfd>* files) const;
  // When serve() has to be called even if nothing has come; max() for never.
  Clock::time_point deadline() const { return deadline_; }
  // Reads what has come. True when the meeting is over: all ranks know each other, or why not.
  bool serve();

 private:
  struct Guest {
    DescriptorSocket socket;
    bool has_spoken = false;
    Hello hello;
    std::vector<File> files;
  };

  Meeting(RootInfo info, DescriptorSocket listener, std::chrono::seconds patience)
      : info_(std::move(info)), listener_(std::move(listener)), patience_(patience) {}

  void accept_guests();
  // Reads a guest's Hello. Fails where it makes the meeting fail; guests without the secret are sent away.
  Status hear(Guest* guest);
  Status admit(const Guest& guest) const;
  bool is_complete() const;
  // Tells all ranks about each other.
  Status introduce();
  void fail(const Status& status);
  // "ranks 1 and 3".
  std::string missing() const;

  RootInfo info_;
  DescriptorSocket listener_;
  std::chrono::seconds patience_;
  Clock::time_point deadline_ = Clock::time_point::max();
  uint32_t ranks_ = 0;  // 0 until the first rank has come
  std::vector<Guest> guests_;
};

}  // namespace softnpu::ccl
