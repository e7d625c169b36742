#pragma once
// The state of an event shared between processes: one page of a memfd, which others open through /proc by a key.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"

namespace softnpu {

class SharedMark {
 public:
  static Status create(std::shared_ptr<SharedMark>* out);
  // `key` is a result of key(), in this or another process.
  static Status open(const std::string& key, std::shared_ptr<SharedMark>* out);
  SharedMark(const SharedMark&) = delete;
  SharedMark& operator=(const SharedMark&) = delete;
  ~SharedMark();

  // Identifies it to other processes while this one lives; shorter than 64 bytes.
  std::string key() const;

  uint64_t begin_record() { return state_->recorded.fetch_add(1) + 1; }
  void complete(uint64_t generation, int64_t nanoseconds);
  uint64_t recorded() const { return state_->recorded.load(); }
  uint64_t completed() const { return state_->completed.load(); }
  // When the newest generation completed, in nanoseconds of the monotonic clock.
  int64_t completed_at() const { return state_->nanoseconds.load(); }

 private:
  struct State {
    std::atomic<uint64_t> recorded;
    std::atomic<uint64_t> completed;
    std::atomic<int64_t> nanoseconds;
  };
  static_assert(std::atomic<uint64_t>::is_always_lock_free);

  SharedMark(int fd, unsigned owner, unsigned owner_fd, State* state)
      : fd_(fd), owner_(owner), owner_fd_(owner_fd), state_(state) {}
  static Status map(int fd, unsigned owner, unsigned owner_fd, std::shared_ptr<SharedMark>* out);

  const int fd_;
  const unsigned owner_;     // the process that owns the descriptor in the key
  const unsigned owner_fd_;  // that descriptor
  State* const state_;
};

}  // namespace softnpu
