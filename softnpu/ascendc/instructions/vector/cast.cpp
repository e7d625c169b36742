// Cast: the pairs of element types, in vectors where float32 has all values of the source.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ascendc/instructions/vector/dispatch.h"
#include "ascendc/instructions/vector/rounding.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ascendc/instructions/vector/cast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ascendc/instructions/vector/half.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu::kernel {
namespace HWY_NAMESPACE {
namespace {

// `count` elements.
using Convert = void (*)(void* to, const void* from, size_t count);

using Words = hn::RebindToSigned<Floats>;

// A vector's elements in memory as float32. int32 is rounded to it.
template <typename From>
HWY_INLINE FloatVector load_floats(const From* from) {
  if constexpr (std::is_same_v<From, int32_t>) {
    return hn::ConvertTo(Floats(), hn::LoadU(Words(), from));
  } else if constexpr (std::is_integral_v<From>) {
    return hn::ConvertTo(Floats(), hn::PromoteTo(Words(), hn::LoadU(hn::Rebind<From, Floats>(), from)));
  } else {
    return Elements<From>::load(from);
  }
}

template <Rounding rounding>
HWY_INLINE FloatVector whole(FloatVector value) {
  if constexpr (rounding == Rounding::kFloor) {
    return hn::Floor(value);
  } else if constexpr (rounding == Rounding::kCeil) {
    return hn::Ceil(value);
  } else if constexpr (rounding == Rounding::kTrunc) {
    return hn::Trunc(value);
  } else if constexpr (rounding == Rounding::kRound) {  // halves away from zero
    const auto cut = hn::Trunc(value);
    const auto is_half = hn::Ge(hn::Abs(hn::Sub(value, cut)), hn::Set(Floats(), 0.5F));
    const auto away = hn::Add(cut, hn::CopySign(hn::Set(Floats(), 1.0F), value));
    return hn::IfThenElse(is_half, away, hn::CopySign(cut, value));
  } else {
    return hn::Round(value);
  }
}

// Integers saturate; NaN becomes 0.
template <typename To>
HWY_INLINE void store_integers(FloatVector value, To* to) {
  const Floats d;
  const Words words;
  value = hn::IfThenZeroElse(hn::IsNaN(value), value);
  if constexpr (std::is_same_v<To, int32_t>) {
    const auto is_large = hn::RebindMask(words, hn::Ge(value, hn::Set(d, 0x1p31F)));
    const auto is_small = hn::RebindMask(words, hn::Le(value, hn::Set(d, -0x1p31F)));
    const auto inner = hn::ConvertTo(words, value);
    const auto below = hn::IfThenElse(is_small, hn::Set(words, std::numeric_limits<int32_t>::min()), inner);
    hn::StoreU(hn::IfThenElse(is_large, hn::Set(words, std::numeric_limits<int32_t>::max()), below), words, to);
  } else {
    using Limits = std::numeric_limits<To>;
    const auto least = hn::Set(d, static_cast<float>(Limits::min()));
    const auto most = hn::Set(d, static_cast<float>(Limits::max()));
    const hn::Rebind<To, Floats> narrow;
    hn::StoreU(hn::DemoteTo(narrow, hn::ConvertTo(words, hn::Min(hn::Max(value, least), most))), narrow, to);
  }
}

template <typename To, typename From, Rounding rounding>
HWY_INLINE void convert_vector(const From* from, To* to) {
  const FloatVector value = load_floats(from);
  if constexpr (std::is_integral_v<To>) {
    store_integers(whole<rounding>(value), to);
  } else if constexpr (std::is_same_v<To, From>) {
    Elements<To>::store(whole<rounding>(value), to);
  } else {
    Elements<To>::store(value, to);
  }
}

template <typename To, typename From, Rounding rounding>
void convert(void* out, const void* in, size_t count) {
  auto* to = static_cast<To*>(out);
  const auto* from = static_cast<const From*>(in);
  const size_t lanes = hn::Lanes(Floats());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) convert_vector<To, From, rounding>(from + i, to + i);
  if (i == count) return;
  alignas(64) From last_from[hn::MaxLanes(Floats())] = {};
  alignas(64) To last_to[hn::MaxLanes(Floats())];
  std::memcpy(last_from, from + i, (count - i) * sizeof(From));
  convert_vector<To, From, rounding>(last_from, last_to);
  std::memcpy(to + i, last_to, (count - i) * sizeof(To));
}

template <typename To, typename From>
Convert by_rounding(Rounding rounding) {
  switch (rounding) {
    case Rounding::kFloor: return &convert<To, From, Rounding::kFloor>;
    case Rounding::kCeil: return &convert<To, From, Rounding::kCeil>;
    case Rounding::kRound: return &convert<To, From, Rounding::kRound>;
    case Rounding::kTrunc: return &convert<To, From, Rounding::kTrunc>;
    case Rounding::kNone:
    case Rounding::kRint: break;
  }
  return &convert<To, From, Rounding::kRint>;
}

// Only what float32 holds on the way, and one rounding.
template <typename From>
Convert vectors_from(DataType destination, Rounding rounding) {
  const bool is_nearest = rounding == Rounding::kRint || rounding == Rounding::kNone;
  constexpr bool is_exact = !std::is_same_v<From, int32_t>;
  constexpr bool has_fraction = !std::is_integral_v<From>;
  constexpr bool is_short = sizeof(From) <= 2;
  if (destination == DataType::kFloat && (is_nearest || (is_short && is_exact)) && !std::is_same_v<From, float>)
    return &convert<float, From, Rounding::kRint>;
  // Where int32 is rounded to float32, half has infinity.
  if constexpr (!std::is_same_v<From, hwy::float16_t>) {
    if (destination == DataType::kHalf && is_nearest) return &convert<hwy::float16_t, From, Rounding::kRint>;
  }
  if constexpr (is_exact && !std::is_same_v<From, hwy::bfloat16_t>) {
    if (destination == DataType::kBfloat16 && is_nearest) return &convert<hwy::bfloat16_t, From, Rounding::kRint>;
  }
  if constexpr (has_fraction) {
    switch (destination) {
      case DataType::kInt8: return by_rounding<int8_t, From>(rounding);
      case DataType::kUint8: return by_rounding<uint8_t, From>(rounding);
      case DataType::kInt16: return by_rounding<int16_t, From>(rounding);
      case DataType::kInt32: return by_rounding<int32_t, From>(rounding);
      default: break;
    }
  }
  return nullptr;
}

// Null where vectors have no such conversion.
Convert vectors(DataType destination, DataType source, Rounding rounding) {
  switch (source) {
    case DataType::kHalf: return vectors_from<hwy::float16_t>(destination, rounding);
    case DataType::kBfloat16: return vectors_from<hwy::bfloat16_t>(destination, rounding);
    case DataType::kFloat:
      // Float32 to float32 rounds to an integer, which stays a float.
      if (destination == DataType::kFloat && rounding != Rounding::kNone) return by_rounding<float, float>(rounding);
      return vectors_from<float>(destination, rounding);
    case DataType::kInt8: return vectors_from<int8_t>(destination, rounding);
    case DataType::kUint8: return vectors_from<uint8_t>(destination, rounding);
    case DataType::kInt16: return vectors_from<int16_t>(destination, rounding);
    case DataType::kInt32: return vectors_from<int32_t>(destination, rounding);
    default: return nullptr;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu::kernel {
namespace {

HWY_EXPORT(vectors);

template <typename T>
long double exact(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<long double>(value);
  } else {
    return static_cast<long double>(static_cast<float>(value));
  }
}

template <typename To, typename From>
void cast(void* out, const void* first, const void*, size_t count, const VectorInstruction& v) {
  const auto convert = HWY_DYNAMIC_DISPATCH(vectors)(v.destination.type, v.source[0].type, v.rounding);
  if (convert != nullptr) return convert(out, first, count);
  const auto* from = static_cast<const From*>(first);
  auto* to = static_cast<To*>(out);
  for (size_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<To, From>) {
      to[i] = from[i];  // without rounding
    } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
      to[i] = saturated<To>(from[i]);
    } else {
      to[i] = converted<To>(exact(from[i]), v.rounding);
    }
  }
}

template <typename From>
VectorFunction from(DataType destination) {
  switch (destination) {
    case DataType::kHalf: return &cast<half, From>;
    case DataType::kBfloat16: return &cast<bfloat16_t, From>;
    case DataType::kFloat: return &cast<float, From>;
    case DataType::kInt8: return &cast<int8_t, From>;
    case DataType::kUint8: return &cast<uint8_t, From>;
    case DataType::kInt16: return &cast<int16_t, From>;
    case DataType::kInt32: return &cast<int32_t, From>;
    case DataType::kInt64: return &cast<int64_t, From>;
    default: return nullptr;
  }
}

}  // namespace

VectorFunction cast_function(DataType destination, DataType source) {
  if (destination == source && source != DataType::kFloat) return nullptr;
  switch (source) {
    case DataType::kHalf: return from<half>(destination);
    case DataType::kBfloat16: return from<bfloat16_t>(destination);
    case DataType::kFloat: return from<float>(destination);
    case DataType::kInt8: return from<int8_t>(destination);
    case DataType::kUint8: return from<uint8_t>(destination);
    case DataType::kInt16: return from<int16_t>(destination);
    case DataType::kInt32: return from<int32_t>(destination);
    case DataType::kInt64: return from<int64_t>(destination);
    default: return nullptr;
  }
}

}  // namespace softnpu::kernel
#endif
