#pragma once
// Versions of a device's memory: the epoch of the last launch, copy or host kernel that wrote it. A cache of values
// computed from device memory compares epochs to know whether it is still valid.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "runtime/memory/region.h"

namespace softnpu {

class WriteEpochs {
 public:
  // Allocations and the caching allocator's blocks begin at multiples of it, so that each has epochs of its own.
  static constexpr size_t kGrain = 512;
  static constexpr uint64_t kUnknown = UINT64_MAX;

  // Covers the region's whole range. If the system has no addresses for the slots, every epoch is unknown.
  explicit WriteEpochs(const Region& region);
  WriteEpochs(const WriteEpochs&) = delete;
  WriteEpochs& operator=(const WriteEpochs&) = delete;
  ~WriteEpochs();

  // The newest epoch of all devices.
  static uint64_t now() { return newest_.load(std::memory_order_acquire); }

  // Raises the epochs of [address, address + bytes), in the region, before it is written.
  void bump(const void* address, size_t bytes);
  // The same for all of the region.
  void bump_all();
  // Other processes may write the range at any time from now on.
  void share(const void* address, size_t bytes);
  // Ends share() for the ranges within this one.
  void unshare(const void* address, size_t bytes);
  // The newest epoch of the range's bytes, with the precision of a grain; kUnknown if the range is shared.
  uint64_t epoch(const void* address, size_t bytes) const;
  // Resets all epochs and shared ranges.
  void clear();

 private:
  using Slot = std::atomic<uint64_t>;

  // A large write updates one epoch per piece, and epochs per grain only at its ends.
  static constexpr size_t kChunk = size_t{64} << 10;

  // Calls covered(i) for each piece within [first, last), and part(i, begin, end) for each partially covered one, with
  // its grains in the range.
  template <typename Covered, typename Part>
  static void for_pieces(size_t first, size_t last, const Covered& covered, const Part& part);
  // Offsets from the region's start, clipped to the region.
  std::array<size_t, 2> offsets(const void* address, size_t bytes) const;

  static inline std::atomic<uint64_t> newest_{0};
  const char* const base_;
  const size_t range_;
  // Zero pages, allocated on first touch; null if there were no addresses for them.
  void* slots_ = nullptr;
  size_t slot_bytes_ = 0;
  Slot* touched_ = nullptr;  // per piece: newest epoch of any byte
  Slot* covered_ = nullptr;  // per piece: newest epoch of the whole
  Slot* grains_ = nullptr;   // per grain: newest epoch of a write that did not cover its piece
  Slot all_{0};              // newest epoch of a write to the whole region
  std::atomic<size_t> shared_count_{0};
  mutable std::mutex mutex_;              // guards shared_
  std::map<const char*, size_t> shared_;  // start -> bytes
};

}  // namespace softnpu
