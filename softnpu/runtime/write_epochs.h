#pragma once
// Versions of a device's memory: the epoch of the last launch, copy or host kernel that writes it. A cache of something
// that was computed from device memory compares epochs to know whether it is still valid.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "runtime/region.h"

namespace softnpu {

class WriteEpochs {
 public:
  // Allocations and an allocator's blocks begin at multiples of it, so that each has epochs of its own.
  static constexpr size_t kGrain = 512;
  static constexpr uint64_t kUnknown = UINT64_MAX;

  // For all of the region's range. Where the system has no addresses for that, nothing is ever known.
  explicit WriteEpochs(const Region& region);
  WriteEpochs(const WriteEpochs&) = delete;
  WriteEpochs& operator=(const WriteEpochs&) = delete;
  ~WriteEpochs();

  // The newest epoch of all devices.
  static uint64_t now() { return newest_.load(std::memory_order_acquire); }

  // [address, address + bytes), in the region, is about to be written.
  void bump(const void* address, size_t bytes);
  // Other processes may write the range at any time from now on.
  void share(const void* address, size_t bytes);
  // Ranges shared within this one are no longer.
  void unshare(const void* address, size_t bytes);
  // The newest epoch of a byte of the range, or of its grain; kUnknown where the range is shared.
  uint64_t epoch(const void* address, size_t bytes) const;
  // Nothing was ever written or shared.
  void clear();

 private:
  using Slot = std::atomic<uint64_t>;

  // A large write covers pieces, which have one epoch; only its ends have epochs by grains.
  static constexpr size_t kPiece = size_t{64} << 10;

  // Calls covered(i) for each piece that [first, last) covers, and part(i, begin, end) for one that it covers in part,
  // with the grains that it touches there.
  template <typename Covered, typename Part>
  static void for_pieces(size_t first, size_t last, const Covered& covered, const Part& part);
  // From the region's start, the range clipped to it.
  std::array<size_t, 2> offsets(const void* address, size_t bytes) const;

  static inline std::atomic<uint64_t> newest_{0};
  const char* const base_;
  const size_t range_;
  // Zero-filled pages, made when they are touched; null where there is no room for them.
  void* slots_ = nullptr;
  size_t slot_bytes_ = 0;
  Slot* touched_ = nullptr;  // a piece's newest epoch of any byte of it
  Slot* covered_ = nullptr;  // of all of it
  Slot* grains_ = nullptr;   // a grain's newest epoch of a write that did not cover its piece
  std::atomic<size_t> shared_count_{0};
  mutable std::mutex mutex_;              // guards shared_
  std::map<const char*, size_t> shared_;  // ranges: their beginnings, their bytes
};

}  // namespace softnpu
