// Non-temporal stores of cache lines.
// Included once per target, inside Highway's namespaces, only by files of that kind.

#if defined(SOFTNPU_OPS_COPY_NON_TEMPORAL_LINES_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTNPU_OPS_COPY_NON_TEMPORAL_LINES_H_
#undef SOFTNPU_OPS_COPY_NON_TEMPORAL_LINES_H_
#else
#define SOFTNPU_OPS_COPY_NON_TEMPORAL_LINES_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// to = from; calls body(place) before each line of 64 bytes. Visible to other threads after hwy::FlushStream().
template <typename Body>
HWY_INLINE void store_lines_non_temporal(uint8_t* to, const uint8_t* from, size_t bytes, const Body& body) {
  constexpr size_t kLine = 64;
  const hn::CappedTag<uint64_t, kLine / sizeof(uint64_t)> d;
  const size_t step = hn::Lanes(d) * sizeof(uint64_t);
  size_t i = HWY_MIN(bytes, (kLine - reinterpret_cast<uintptr_t>(to) % kLine) % kLine);
  if (i != 0) {
    body(size_t{0});
    std::memcpy(to, from, i);
  }
  for (; i + kLine <= bytes; i += kLine) {
    body(i);
    for (size_t j = i; j < i + kLine; j += step) {
      hn::Stream(hn::LoadU(d, reinterpret_cast<const uint64_t*>(from + j)), d, reinterpret_cast<uint64_t*>(to + j));
    }
  }
  if (i < bytes) {
    body(i);
    std::memcpy(to + i, from + i, bytes - i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#endif
