#pragma once
// One rank's end of a communicator.
//
// Collectives have numbers, from 1 on, in the order of the calls; one runs at a time. A rank's progress is kRounds
// times the number of its collective plus the rounds that it has completed of it: it publishes the call (round 1),
// reads other ranks' memory, and so on.
//
// A communicator may be used before the ranks have met (is_formed()): calls are checked and numbered, and their
// operations wait in their streams.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "ccl/control.h"
#include "ccl/member.h"
#include "ccl/root_info.h"
#include "ccl/settings.h"
#include "hccl/hccl_types.h"

namespace softnpu::ccl {

// The number of a round of a collective, among all of them.
constexpr uint64_t kRounds = uint64_t{1} << 20;
constexpr uint64_t round_of(uint64_t number, uint64_t round) { return number * kRounds + round; }

class Communicator {
 public:
  Communicator(Membership membership, RootInfo info, uint32_t rank, softnpuMemoryFile memory, int32_t device,
               Settings settings);
  // One whose ranks meet later; see form(). `ids`: the numbers that errors give the ranks.
  Communicator(std::string name, std::vector<uint32_t> ids, RootInfo info, uint32_t rank, softnpuMemoryFile memory,
               int32_t device, Settings settings);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  // Tells the others that this rank has left.
  ~Communicator();

  // The ranks have met. Once, any thread; wakes what waits for it.
  void connect(Membership membership);
  // Before it, of what is below, only what the constructor gave, the numbers and the failures may be used.
  bool is_formed() const { return formed_.load(std::memory_order_acquire); }

  const std::string& name() const { return name_; }
  uint32_t rank() const { return rank_; }
  uint32_t size() const { return static_cast<uint32_t>(ids_.size()); }
  // The number that errors give `rank`.
  uint32_t id_of(uint32_t rank) const { return ids_[rank]; }
  int32_t device() const { return device_; }
  const softnpuMemoryFile& memory() const { return memory_; }
  const RootInfo& info() const { return info_; }
  const Settings& settings() const { return settings_; }
  const Member& member(uint32_t rank) const { return members_[rank]; }
  ControlArea& control() const { return *control_; }
  RankSlot& own() const { return control_->slot(rank_); }

  // Held from the assignment of numbers until the operation is in its stream: streams get operations in their order.
  std::mutex& order() { return order_; }
  // The numbers of the next collective, and of the next transfer from and to a rank. order() is held.
  uint64_t next_collective() { return ++called_; }
  uint64_t next_send(uint32_t to) { return ++sends_[to]; }
  uint64_t next_recv(uint32_t from) { return ++recvs_[from]; }

  // The number of the last collective that this rank has completed.
  uint64_t completed() const { return completed_.load(std::memory_order_seq_cst); }
  void complete(uint64_t number);

  // Publishes everything that this rank has written, and wakes the ranks that wait.
  void advance(uint64_t progress);
  void ring(uint32_t rank) const;
  void ring_all() const;

  // Keeps the first failure, which all later calls return, and tells the other ranks.
  void fail(const Status& status) noexcept;
  // Ok while nothing has failed.
  Status failure() const;
  bool has_failed() const { return failed_.load(std::memory_order_acquire); }

  // Its failure, or another rank's. A rank that has left or ended is one only for calls that need it.
  Status condition() const;
  // Fails in a forked child: it has neither the threads nor the ranks.
  Status check_process() const;

  // Why `rank` will not go on; ok while it may. Names the rank.
  Status why_gone(uint32_t rank) const;
  bool is_gone(uint32_t rank) const;
  // "rank 1 (process 123)".
  std::string name_rank(uint32_t rank) const;
  // What `rank` has called last.
  std::string last_call(uint32_t rank) const;

 private:
  // Tells the other ranks of failure_. failure_mutex_ is held; formed.
  void publish_failure() noexcept;

  const int32_t pid_;
  const std::string name_;
  const std::vector<uint32_t> ids_;
  const RootInfo info_;
  const uint32_t rank_;
  const int32_t device_;
  const softnpuMemoryFile memory_;
  const Settings settings_;
  std::shared_ptr<ControlArea> control_;  // constant once formed_, as members_
  std::vector<Member> members_;
  std::atomic<bool> formed_{false};  // written under failure_mutex_

  std::mutex order_;  // guards the following four
  uint64_t called_ = 0;
  std::vector<uint64_t> sends_;
  std::vector<uint64_t> recvs_;

  std::atomic<uint64_t> completed_{0};
  std::atomic<bool> failed_{false};  // written under failure_mutex_
  mutable std::mutex failure_mutex_;
  Status failure_;  // guarded by failure_mutex_
};

}  // namespace softnpu::ccl
