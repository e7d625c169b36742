#pragma once
// The state of an event shared between processes: one page of a memfd, which others open by the ticket of an export.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/file.h"
#include "base/status.h"
#include "runtime/ipc/export_ticket.h"
#include "runtime/ipc/peer_process.h"

namespace softnpu {

class Exports;

class SharedMark : public std::enable_shared_from_this<SharedMark> {
 public:
  static Status create(std::shared_ptr<SharedMark>* out);
  // `key` is a result of key(), in this or another process.
  static Status open(const std::string& key, std::shared_ptr<SharedMark>* out);
  SharedMark(const SharedMark&) = delete;
  SharedMark& operator=(const SharedMark&) = delete;
  ~SharedMark();

  // Identifies it to other processes while its creator and the creator's mark live; shorter than 64 bytes.
  Status key(Exports& exports, std::string* out);

  uint64_t begin_record();
  void complete(uint64_t generation, int64_t nanoseconds);
  uint64_t recorded() const { return state_->recorded.load(); }
  uint64_t completed() const { return state_->completed.load(); }
  // When the newest generation completed, in nanoseconds of the monotonic clock.
  int64_t completed_at() const { return state_->nanoseconds.load(); }

  // The process that began to record `generation`; null if that is this one or, after many more records, unknown.
  std::unique_ptr<PeerProcess> recorder(uint64_t generation) const;

 private:
  // Each process that records writes the entry of its generation.
  struct Recorder {
    std::atomic<uint64_t> start_time;
    std::atomic<uint64_t> generation_and_pid;
  };
  static constexpr size_t kRecorders = 128;
  // Written by any process that has it open: nothing in it is an index or a size here.
  struct State {
    std::atomic<uint64_t> recorded;
    std::atomic<uint64_t> completed;
    std::atomic<int64_t> nanoseconds;
    std::array<Recorder, kRecorders> recorders;
  };
  static_assert(std::atomic<uint64_t>::is_always_lock_free);

  SharedMark(File file, State* state) : file_(std::move(file)), state_(state) {}
  static Status map(File file, std::shared_ptr<SharedMark>* out);
  void write_recorder(uint64_t generation);

  static uint64_t next_id();

  const uint64_t id_ = next_id();  // of all marks of this process: an address is used again
  const File file_;
  State* const state_;
  std::mutex mutex_;     // guards ticket_
  ExportTicket ticket_;  // by which others open it; without a process until key()
};

}  // namespace softnpu
