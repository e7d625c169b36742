// Vectors of half and bfloat16 as floats. Included once per target, inside Highway's namespaces.

#if defined(SOFTNPU_KERNEL_VECTOR_HALF_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTNPU_KERNEL_VECTOR_HALF_H_
#undef SOFTNPU_KERNEL_VECTOR_HALF_H_
#else
#define SOFTNPU_KERNEL_VECTOR_HALF_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu::kernel {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using FloatVector = hn::Vec<Floats>;

// A vector's elements in memory of type T. Each half type is computed with in float32.
template <typename T>
struct Elements {
  using Tag = hn::ScalableTag<T>;
  static HWY_INLINE auto load(const T* from) { return hn::LoadU(Tag(), from); }
  static HWY_INLINE void store(hn::Vec<Tag> value, T* to) { hn::StoreU(value, Tag(), to); }
};

template <>
struct Elements<hwy::float16_t> {
  using Tag = Floats;
  using Narrow = hn::Rebind<hwy::float16_t, Floats>;
  static HWY_INLINE FloatVector load(const hwy::float16_t* from) {
    return hn::PromoteTo(Floats(), hn::LoadU(Narrow(), from));
  }
  static HWY_INLINE void store(FloatVector value, hwy::float16_t* to) {
    hn::StoreU(hn::DemoteTo(Narrow(), value), Narrow(), to);
  }
};

template <>
struct Elements<hwy::bfloat16_t> {
  using Tag = Floats;
  using Narrow = hn::Rebind<hwy::bfloat16_t, Floats>;
  using Bits = hn::RebindToUnsigned<Floats>;
  static HWY_INLINE FloatVector load(const hwy::bfloat16_t* from) {
    return hn::PromoteTo(Floats(), hn::LoadU(Narrow(), from));
  }
  // To nearest, ties to even; NaN stays NaN.
  static HWY_INLINE void store(FloatVector value, hwy::bfloat16_t* to) {
    const Bits d;
    const hn::Rebind<uint16_t, Floats> narrow;
    const auto bits = hn::BitCast(d, value);
    const auto high = hn::ShiftRight<16>(bits);
    const auto carry = hn::Add(hn::Set(d, 0x7FFF), hn::And(high, hn::Set(d, 1)));
    const auto nearest = hn::ShiftRight<16>(hn::Add(bits, carry));
    const auto quiet = hn::Or(high, hn::Set(d, 0x40));
    const auto rounded = hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(value)), quiet, nearest);
    const hn::RebindToSigned<Bits> words;
    hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(words, rounded)), narrow, reinterpret_cast<uint16_t*>(to));
  }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu::kernel
HWY_AFTER_NAMESPACE();

#endif
