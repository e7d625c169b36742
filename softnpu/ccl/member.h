#pragma once
// A rank as this process sees it, and how the ranks of a communicator find each other.
//
// A communicator forms itself by join, reads a rank's memory by Member::source, wakes a rank by Member::ring and asks
// for Member::has_ended. All of them, and the control area, are shared memory of one host.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor_socket.h"
#include "base/status.h"
#include "ccl/control.h"
#include "ccl/peer.h"
#include "ccl/root_info.h"
#include "softnpu/memory_file.h"

namespace softnpu::ccl {

class Member {
 public:
  // A rank of this process.
  static Member local(const softnpuMemoryFile& memory);
  // Another process's rank.
  static Member remote(std::shared_ptr<Peer> peer, std::shared_ptr<Mapping> memory);

  // The address of [offset, offset + bytes) of its device's memory; fails where there is no such range.
  Status source(uint64_t offset, uint64_t bytes, const char** out) const;
  void ring() const;
  bool has_ended() const { return peer_ != nullptr && peer_->has_ended(); }
  // Of its process; 0 for this one.
  int32_t pid() const { return peer_ == nullptr ? 0 : peer_->pid(); }

 private:
  std::shared_ptr<Peer> peer_;       // null for a rank of this process
  std::shared_ptr<Mapping> mapped_;  // keeps `memory_`
  const char* memory_ = nullptr;
  uint64_t bytes_ = 0;
};

struct RankConfig {
  uint32_t ranks = 0;
  uint32_t rank = 0;
  int32_t device = 0;
  std::string name;  // empty: any
  std::chrono::seconds timeout{0};
  bool may_be_early = false;  // whether the first rank may not listen yet
  uint32_t id = 0;            // the rank's number in errors
};

struct Membership {
  std::string name;
  std::shared_ptr<ControlArea> control;
  std::vector<Member> members;  // by rank
};

// The two halves of join(). The first connects to whoever listens at `info` and says which rank this is. The second
// waits on that connection for all the others.
Status begin_join(const RootInfo& info, const RankConfig& self, DescriptorSocket* out);
Status finish_join(const RankConfig& self, const DescriptorSocket& socket, Membership* out);

// Waits until all ranks have come to `info`, and returns them.
Status join(const RootInfo& info, const RankConfig& self, Membership* out);

}  // namespace softnpu::ccl
