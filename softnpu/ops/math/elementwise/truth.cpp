// Logical functions of bytes that are truths: no conversion to a compute type.

#include "ops/math/elementwise/map_op.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/math/elementwise/truth.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {

struct Not {
  static HWY_INLINE bool of(bool a) { return !a; }
};
struct And {
  static HWY_INLINE bool of(bool a, bool b) { return a & b; }
};
struct Or {
  static HWY_INLINE bool of(bool a, bool b) { return a | b; }
};
struct Xor {
  static HWY_INLINE bool of(bool a, bool b) { return a != b; }
};

template <typename F>
void map1(void* out, const void* const* in, size_t count, const void* /*constants*/) {
  const auto* a = static_cast<const uint8_t*>(in[0]);
  auto* y = static_cast<uint8_t*>(out);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = F::of(a[i] != 0);
}

template <typename F>
void map2(void* out, const void* const* in, size_t count, const void* /*constants*/) {
  const auto* a = static_cast<const uint8_t*>(in[0]);
  const auto* b = static_cast<const uint8_t*>(in[1]);
  auto* y = static_cast<uint8_t*>(out);
#pragma GCC ivdep
  for (size_t i = 0; i < count; ++i) y[i] = F::of(a[i] != 0, b[i] != 0);
}

MapKernel kernel_for(MapOp op) {
  switch (op) {
    case MapOp::kLogicalNot: return &map1<Not>;
    case MapOp::kLogicalAnd:
    case MapOp::kBitwiseAnd: return &map2<And>;
    case MapOp::kLogicalOr:
    case MapOp::kBitwiseOr: return &map2<Or>;
    case MapOp::kLogicalXor:
    case MapOp::kBitwiseXor: return &map2<Xor>;
    default: return nullptr;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {
HWY_EXPORT(kernel_for);
}  // namespace

MapKernel truth_kernel(MapOp op) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(kernel_for)(op);
}

}  // namespace softnpu
#endif
