#include "ops/copy/streamed.h"

#include "ops/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/copy/streamed.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/copy/stream_lines.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

void stream(void* to, const void* from, size_t bytes, const void* ahead) {
  auto* out = static_cast<uint8_t*>(to);
  const auto* in = static_cast<const uint8_t*>(from);
  if (ahead == nullptr) {
    stream_lines(out, in, bytes, [](size_t) {});
  } else {
    const auto* next = static_cast<const uint8_t*>(ahead);
    stream_lines(out, in, bytes, [next](size_t at) { hwy::Prefetch(next + at); });
  }
}

StreamBytes kernel() { return &stream; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(kernel);

}  // namespace

StreamBytes stream_bytes() {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel)();
}

void finish_streams() { hwy::FlushStream(); }

}  // namespace softnpu
#endif
