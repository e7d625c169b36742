#pragma once
// Results that are larger than the caches: written past them, so that no line is read before it is overwritten.

#include <cstddef>
#include <cstdint>

namespace softnpu {

// From this size on a result is gone from the caches before anybody reads it; measured, with 2 MiB of second-level
// cache and a share of a large third level.
constexpr int64_t kStreamedBytes = int64_t{32} << 20;
// How far ahead of a stream what it reads is brought into the cache.
constexpr ptrdiff_t kAheadBytes = 2048;

// to = from, which do not overlap. `ahead`, if not null: as many bytes that are read next; they need not be there.
// Other threads see the results after finish_streams() on this one.
using StreamBytes = void (*)(void* to, const void* from, size_t bytes, const void* ahead);
StreamBytes stream_bytes();
void finish_streams();

}  // namespace softnpu
