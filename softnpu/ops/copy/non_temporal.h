#pragma once
// Results that are larger than the caches: written past them, so that no line is read before it is overwritten.

#include <cstddef>
#include <cstdint>

namespace softnpu {

// From this size on a result is gone from the caches before anybody reads it; measured, with 2 MiB of second-level
// cache and a share of a large third level.
constexpr int64_t kNonTemporalBytes = int64_t{32} << 20;
// How far ahead of a copy its source is prefetched.
constexpr ptrdiff_t kAheadBytes = 2048;

// to = from, which do not overlap. `ahead`, if not null: as many bytes that are read next; they need not be there.
// Other threads see the results after fence_non_temporal_stores() on this one.
using NonTemporalCopy = void (*)(void* to, const void* from, size_t bytes, const void* ahead);
NonTemporalCopy non_temporal_copy();
void fence_non_temporal_stores();

}  // namespace softnpu
