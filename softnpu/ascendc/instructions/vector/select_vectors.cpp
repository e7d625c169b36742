#include "ascendc/instructions/vector/select_vectors.h"

#include <cstring>
#include <type_traits>

#include "ascendc/instructions/vector/repeats.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ascendc/instructions/vector/select_vectors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ascendc/instructions/vector/half.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu::kernel {
namespace HWY_NAMESPACE {
namespace {

// So many vectors that their bits are whole bytes.
template <typename T>
constexpr size_t kVectors = hn::MaxLanes(typename Elements<T>::Tag()) >= 8
                                ? 1
                                : 8 / hn::MaxLanes(typename Elements<T>::Tag());

// Integers have no NaN, and no Ge in vectors.
template <Comparison comparison, bool is_integer, typename V>
HWY_INLINE auto holds(V a, V b) {
  if constexpr (comparison == Comparison::kLt) return hn::Lt(a, b);
  if constexpr (comparison == Comparison::kGt) return hn::Lt(b, a);
  if constexpr (comparison == Comparison::kEq) return hn::Eq(a, b);
  if constexpr (comparison == Comparison::kNe) return hn::Not(hn::Eq(a, b));  // true for NaN, as hn::Ne is not
  if constexpr (comparison == Comparison::kLe) {
    if constexpr (is_integer) return hn::Not(hn::Lt(b, a));
    if constexpr (!is_integer) return hn::Le(a, b);
  }
  if constexpr (comparison == Comparison::kGe) {
    if constexpr (is_integer) return hn::Not(hn::Lt(a, b));
    if constexpr (!is_integer) return hn::Ge(a, b);
  }
}

// The bits of one mask, or of several with less than 8 elements each.
template <typename D, typename M>
HWY_INLINE void store_bits(D d, const M* masks, size_t vectors, uint8_t* to) {
  uint8_t bits[8];
  const size_t bytes = hn::StoreMaskBits(d, masks[0], bits);
  if (vectors == 1) {
    std::memcpy(to, bits, bytes);
    return;
  }
  const size_t lanes = 8 / vectors;
  unsigned all = bits[0] & ((1U << lanes) - 1);
  for (size_t v = 1; v < vectors; ++v) {
    hn::StoreMaskBits(d, masks[v], bits);
    all |= (bits[0] & ((1U << lanes) - 1)) << (v * lanes);
  }
  *to = static_cast<uint8_t>(all);
}

template <typename T, Comparison comparison>
size_t compare(const CompareInstruction& c, size_t count) {
  using Tag = typename Elements<T>::Tag;
  const Tag d;
  const size_t lanes = hn::Lanes(d);
  const size_t step = lanes * kVectors<T>;
  const auto* first = static_cast<const T*>(c.source[0].address);
  const bool has_second = c.sources == 2;
  const auto* second = has_second ? static_cast<const T*>(c.source[1].address) : nullptr;
  alignas(64) T scalar[hn::MaxLanes(Tag())];
  for (T& element : scalar) std::memcpy(&element, c.scalar, sizeof(T));
  const auto other = Elements<T>::load(scalar);
  auto* bits = static_cast<uint8_t*>(c.destination.address);
  size_t i = 0;
  for (; i + step <= count; i += step) {
    hn::Mask<Tag> masks[kVectors<T>];
    for (size_t v = 0; v < kVectors<T>; ++v) {
      const size_t at = i + v * lanes;
      masks[v] = holds<comparison, std::is_integral_v<T>>(Elements<T>::load(first + at),
                                                          has_second ? Elements<T>::load(second + at) : other);
    }
    store_bits(d, masks, kVectors<T>, bits + i / 8);
  }
  return i;
}

template <typename T>
size_t compare_type(const CompareInstruction& c, size_t count) {
  switch (c.comparison) {
    case Comparison::kLt: return compare<T, Comparison::kLt>(c, count);
    case Comparison::kGt: return compare<T, Comparison::kGt>(c, count);
    case Comparison::kEq: return compare<T, Comparison::kEq>(c, count);
    case Comparison::kLe: return compare<T, Comparison::kLe>(c, count);
    case Comparison::kGe: return compare<T, Comparison::kGe>(c, count);
    case Comparison::kNe: return compare<T, Comparison::kNe>(c, count);
  }
  return 0;
}

size_t compare_any(const CompareInstruction& c, size_t count) {
  switch (c.source[0].type) {
    case DataType::kHalf: return compare_type<hwy::float16_t>(c, count);
    case DataType::kFloat: return compare_type<float>(c, count);
    case DataType::kInt32: return compare_type<int32_t>(c, count);
    default: return 0;
  }
}

template <typename T>
size_t select(const SelectInstruction& s, size_t count) {
  using Tag = hn::ScalableTag<T>;
  const Tag d;
  const size_t lanes = hn::Lanes(d);
  const size_t step = lanes * kVectors<T>;
  const size_t of_repeat = kRepeatBytes / sizeof(T);
  const auto* first = static_cast<const T*>(s.source[0].address);
  const bool has_second = s.sources == 2;
  const auto* second = has_second ? static_cast<const T*>(s.source[1].address) : nullptr;
  T scalar;
  std::memcpy(&scalar, s.scalar, sizeof(T));
  const auto other = hn::Set(d, scalar);
  const auto* bits = static_cast<const uint8_t*>(s.bits.address);
  auto* to = static_cast<T*>(s.destination.address);
  size_t i = 0;
  for (; i + step <= count; i += step) {
    uint8_t some[8] = {};
    std::memcpy(some, bits + (s.repeats_bits ? i % of_repeat : i) / 8, step / 8);
    for (size_t v = 0; v < kVectors<T>; ++v) {
      const size_t at = i + v * lanes;
      const auto chosen = hn::LoadMaskBits(d, some);
      const auto rest = has_second ? hn::LoadU(d, second + at) : other;
      hn::StoreU(hn::IfThenElse(chosen, hn::LoadU(d, first + at), rest), d, to + at);
      some[0] = static_cast<uint8_t>(some[0] >> (8 / kVectors<T>));  // the next vector's, where there are several
    }
  }
  return i;
}

size_t select_any(const SelectInstruction& s, size_t count) {
  return bytes_of(s.destination.type) == 2 ? select<uint16_t>(s, count) : select<uint32_t>(s, count);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu::kernel {
namespace {
HWY_EXPORT(compare_any);
HWY_EXPORT(select_any);
}  // namespace

size_t compare_vectors(const CompareInstruction& instruction, size_t count) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(compare_any)(instruction, count);
}

size_t select_vectors(const SelectInstruction& instruction, size_t count) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(select_any)(instruction, count);
}

}  // namespace softnpu::kernel
#endif  // HWY_ONCE
