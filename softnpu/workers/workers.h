#pragma once
// A fork-join pool: the threads that run the cores of every device of this process.

#include <atomic>
#include <cstdint>

#include "acl/acl_base.h"

namespace softnpu {

// A parallel region has N slots: slot i is one call run(context, i). The submitting thread runs slot 0; idle workers
// claim the others; the submitter runs what is left. A descheduled worker delays the region only if it has claimed a
// slot, and the result of a slot does not depend on its thread.
//
// Workers serve the regions of a process in fork order: all slots of a region that wait for each other (barrier) are
// claimed before those of the next region.
class ACL_FUNC_VISIBILITY ParallelRegion {
 public:
  using Run = void (*)(void* context, int slot);

  constexpr ParallelRegion() = default;
  ParallelRegion(const ParallelRegion&) = delete;
  ParallelRegion& operator=(const ParallelRegion&) = delete;
  ~ParallelRegion() = default;

  // Offers all slots but the first to the workers. In a nested region join() runs all slots on the calling thread.
  void fork(Run run, void* context, int slots) noexcept;

  // Runs the unclaimed slots and waits for the others. The region may be forked again.
  void join() noexcept;

  int slots() const { return slots_; }

  // Waits until all slots have arrived. Needs as many threads as slots: reserve_workers() must have returned true.
  void barrier() noexcept;

 private:
  friend class Workers;

  Run run_ = nullptr;
  void* context_ = nullptr;
  int slots_ = 0;
  ParallelRegion* outer_ = nullptr;  // the region that forked this one
  int outer_slot_ = 0;
  // Guarded by the mutex of the workers.
  ParallelRegion* next_ = nullptr;
  int taken_ = 0;
  // Slots that workers run, plus kSubmitterSleeps while the submitter sleeps until it is 0.
  std::atomic<uint32_t> running_slots_{0};
  std::atomic<int> arrived_{0};     // at the barrier
  std::atomic<uint32_t> phase_{0};  // completed barriers
};

// The calling thread's slot and its region's number of slots; 0 of 1 outside of regions.
struct Slot {
  int number = 0;
  int count = 1;
  bool in_region = false;
};
ACL_FUNC_VISIBILITY Slot this_slot() noexcept;

// The region whose slot the calling thread runs; null outside.
ACL_FUNC_VISIBILITY ParallelRegion* this_region() noexcept;

// Starts threads up to `count` workers; false if the system provides no more threads.
ACL_FUNC_VISIBILITY bool reserve_workers(int count) noexcept;

// Whether work of a few microseconds, less than waking a worker takes, should be forked: a worker is awake, or this was
// called so often within 300 us that waking one pays.
ACL_FUNC_VISIBILITY bool any_worker_awake() noexcept;

// Calls body(slot) for all slots in [0, slots) on up to as many threads. body() must not throw.
template <typename Body>
void fork_join(int slots, const Body& body) {
  ParallelRegion region;
  region.fork([](void* self, int slot) { (*static_cast<const Body*>(self))(slot); }, const_cast<Body*>(&body), slots);
  body(0);
  region.join();
}

}  // namespace softnpu
