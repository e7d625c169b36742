#pragma once
// When the bytes of a device's memory were last about to be written: by launches, copies and kernels on the host. Who
// keeps something that was made from device memory learns here whether it still holds.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "runtime/region.h"

namespace softnpu {

class WriteClock {
 public:
  // Allocations and an allocator's blocks begin at multiples of it, so that each has marks of its own.
  static constexpr size_t kGrain = 512;
  static constexpr uint64_t kUnknown = UINT64_MAX;

  // For all of the region's range. Where the system has no addresses for that, nothing is ever known.
  explicit WriteClock(const Region& region);
  WriteClock(const WriteClock&) = delete;
  WriteClock& operator=(const WriteClock&) = delete;
  ~WriteClock();

  // How often something was marked on any device.
  static uint64_t now() { return clock_.load(std::memory_order_acquire); }

  // [address, address + bytes), in the region, is about to be written.
  void mark(const void* address, size_t bytes);
  // Other processes may write the range at any time from now on.
  void share(const void* address, size_t bytes);
  // Ranges shared within this one are no longer.
  void unshare(const void* address, size_t bytes);
  // The clock at the newest mark of a byte of the range, or of its grain; kUnknown where the range is shared.
  uint64_t last(const void* address, size_t bytes) const;
  // Nothing was ever marked or shared.
  void clear();

 private:
  using Slot = std::atomic<uint64_t>;

  // A large write covers pieces, which have one mark; only its ends are marked by grains.
  static constexpr size_t kPiece = size_t{64} << 10;

  // Calls covered(i) for each piece that [first, last) covers, and part(i, begin, end) for one that it covers in part,
  // with the grains that it touches there.
  template <typename Covered, typename Part>
  static void for_pieces(size_t first, size_t last, const Covered& covered, const Part& part);
  // From the region's start, the range clipped to it.
  std::array<size_t, 2> offsets(const void* address, size_t bytes) const;

  static inline std::atomic<uint64_t> clock_{0};
  const char* const base_;
  const size_t range_;
  // Zero-filled pages, made when they are touched; null where there is no room for them.
  void* slots_ = nullptr;
  size_t slot_bytes_ = 0;
  Slot* touched_ = nullptr;  // a piece's newest mark of any byte of it
  Slot* covered_ = nullptr;  // of all of it
  Slot* grains_ = nullptr;   // a grain's newest mark in a write that did not cover its piece
  std::atomic<size_t> shared_count_{0};
  mutable std::mutex mutex_;              // guards shared_
  std::map<const char*, size_t> shared_;  // ranges: their beginnings, their bytes
};

}  // namespace softnpu
