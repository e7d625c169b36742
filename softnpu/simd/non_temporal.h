#pragma once
// Non-temporal stores for results that are larger than the caches: no line is read before it is overwritten.

#include <cstddef>
#include <cstdint>

namespace softnpu {

// Results of this size have left the caches before they are read; measured with 2 MiB of second-level cache and a share
// of a large third level.
constexpr int64_t kNonTemporalBytes = int64_t{32} << 20;
// How far ahead of a copy its source is prefetched.
constexpr ptrdiff_t kAheadBytes = 2048;

// to = from, without overlap. `ahead`, if not null: the same number of bytes that will be read next; they need not
// exist. Other threads see the results after fence_non_temporal_stores() on this thread.
using NonTemporalCopy = void (*)(void* to, const void* from, size_t bytes, const void* ahead);
NonTemporalCopy non_temporal_copy();
void fence_non_temporal_stores();

}  // namespace softnpu
