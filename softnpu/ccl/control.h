#pragma once
// Memory that all ranks of a communicator map: what each has called and how far it is. Every number in it may be
// written by another process: it is copied once, then checked.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/file.h"
#include "base/status.h"
#include "ccl/call.h"

namespace softnpu::ccl {

// The descriptors that introduce all ranks to each other are on their way at once: a user may have 1,024.
constexpr uint32_t kMaxRanks = 16;

// What a rank publishes with a collective. Offsets are in its device's memory file.
struct Published {
  Call call;
  uint64_t send = 0;
  uint64_t recv = 0;
};

enum class Condition : uint32_t { kJoined, kLeft, kFailed };

// One rank's part. It alone writes it, but for `sleeps`.
struct RankSlot {
  // Collectives of even and odd number alternate: one part is written while others read the other.
  static constexpr size_t kParities = 2;
  // Data of up to this many bytes is published with the call.
  static constexpr size_t kPayload = 8192;
  static constexpr size_t kReason = 512;

  alignas(64) std::atomic<uint64_t> progress;  // see Communicator; release publishes what is below
  alignas(64) std::atomic<uint32_t> sleeps;    // its process waits for its bell
  std::atomic<Condition> condition;            // release publishes `reason`
  char reason[kReason];                        // of kFailed, null-terminated
  Published published[kParities];
  alignas(64) std::byte payload[kParities][kPayload];
};

// Transfers from one rank to another, one at a time.
struct Channel {
  alignas(64) std::atomic<uint64_t> posted;  // by the sender, with `call` and `offset`
  alignas(64) std::atomic<uint64_t> taken;   // by the receiver
  Call call;
  uint64_t offset = 0;
};

static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<Condition>::is_always_lock_free);

class ControlArea {
 public:
  static Status create(uint32_t ranks, std::shared_ptr<ControlArea>* out);
  // `file` came from another process.
  static Status open(File file, uint32_t ranks, std::shared_ptr<ControlArea>* out);
  ControlArea(const ControlArea&) = delete;
  ControlArea& operator=(const ControlArea&) = delete;
  ~ControlArea();

  int fd() const { return file_.fd(); }
  // The mapping keeps the memory.
  void close_file() { file_ = File(); }

  RankSlot& slot(uint32_t rank) const { return reinterpret_cast<RankSlot*>(base_)[rank]; }
  Channel& channel(uint32_t from, uint32_t to) const {
    return reinterpret_cast<Channel*>(base_ + ranks_ * sizeof(RankSlot))[from * ranks_ + to];
  }
  // As many numbers as ranks, published with a collective.
  uint64_t* counts(uint32_t rank, uint64_t parity) const { return numbers(rank, parity, 0); }
  uint64_t* displacements(uint32_t rank, uint64_t parity) const { return numbers(rank, parity, 1); }

 private:
  ControlArea(File file, char* base, size_t bytes, uint32_t ranks)
      : file_(std::move(file)), base_(base), bytes_(bytes), ranks_(ranks) {}
  static Status map(File file, uint32_t ranks, std::shared_ptr<ControlArea>* out);
  uint64_t* numbers(uint32_t rank, uint64_t parity, size_t which) const;

  File file_;
  char* const base_;
  const size_t bytes_;
  const size_t ranks_;
};

}  // namespace softnpu::ccl
