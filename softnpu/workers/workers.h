#pragma once
// The threads that play the cores of every device of this process, beside the threads that have work to share.

#include <atomic>
#include <cstdint>

#include "acl/acl_base.h"

namespace softnpu {

// Work of several threads: seat i of it is one call run(context, i). Seat 0 is for the thread that opens the work; the
// others are for whichever worker comes first and, where none has come, for the opener. So a worker that lost its core
// delays nobody unless it holds a seat, and what a seat computes does not depend on who sits there.
//
// Workers serve the works of a process in the order in which they were opened, so that the seats of one that wait for
// each other (barrier) are all taken before those of the next.
class ACL_FUNC_VISIBILITY SharedWork {
 public:
  using Run = void (*)(void* context, int seat);

  constexpr SharedWork() = default;
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;
  ~SharedWork() = default;

  // Shows all seats but the first to the workers. Within a seat of other work nobody is called: close() runs them all.
  void open(Run run, void* context, int seats) noexcept;

  // Runs the seats that nobody took and waits for the others. The object may be opened again.
  void close() noexcept;

  int seats() const { return seats_; }

  // Waits until all seats have come here. Needs as many threads as seats: reserve_workers() was true for them.
  void barrier() noexcept;

 private:
  friend class Workers;

  Run run_ = nullptr;
  void* context_ = nullptr;
  int seats_ = 0;
  SharedWork* outer_ = nullptr;  // what the opener sat in
  int outer_seat_ = 0;
  // Guarded by the mutex of the workers.
  SharedWork* next_ = nullptr;
  int taken_ = 0;
  // Seats that workers sit in; kOpenerSleeps is added while the opener sleeps until there is none.
  std::atomic<uint32_t> sitting_{0};
  std::atomic<int> arrived_{0};     // at the barrier
  std::atomic<uint32_t> phase_{0};  // barriers that are over
};

// Where the calling thread sits: a seat and how many the work has; 0 of 1, not within, where it sits nowhere.
struct Seat {
  int number = 0;
  int count = 1;
  bool within = false;
};
ACL_FUNC_VISIBILITY Seat this_seat() noexcept;

// The work that the calling thread sits in; null: none.
ACL_FUNC_VISIBILITY SharedWork* this_work() noexcept;

// Makes sure of `count` workers; false where the system gives no more threads.
ACL_FUNC_VISIBILITY bool reserve_workers(int count) noexcept;

// For work of a few microseconds, less than waking a worker takes: whether one is awake, or such work has been asked
// about so often of late that waking one pays.
ACL_FUNC_VISIBILITY bool workers_are_at_hand() noexcept;

// Calls seat(i) for all i in [0, seats), on up to as many threads. seat() does not throw.
template <typename Body>
void share_work(int seats, const Body& seat) {
  SharedWork work;
  work.open([](void* body, int i) { (*static_cast<const Body*>(body))(i); }, const_cast<Body*>(&seat), seats);
  seat(0);
  work.close();
}

}  // namespace softnpu
