// Cast: the pairs of element types, with vectors for those that kernels use most.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernel/vector/dispatch.h"
#include "kernel/vector/rounding.h"
#include "ops/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/vector/cast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernel/vector/half.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu::kernel {
namespace HWY_NAMESPACE {
namespace {

template <typename To, typename From>
size_t convert_vectors(To* to, const From* from, size_t count) {
  const size_t lanes = hn::Lanes(Floats());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) Elements<To>::store(Elements<From>::load(from + i), to + i);
  return i;
}

size_t widen(void* to, const void* from, size_t count) {
  return convert_vectors(static_cast<float*>(to), static_cast<const hwy::float16_t*>(from), count);
}
size_t narrow(void* to, const void* from, size_t count) {
  return convert_vectors(static_cast<hwy::float16_t*>(to), static_cast<const float*>(from), count);
}

// Integers of float32, saturated; false where a vector has NaN or a number at the ends, which is left to the caller.
size_t to_integers(void* to, const void* from, size_t count, Rounding rounding) {
  const Floats d;
  const hn::RebindToSigned<Floats> integers;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(d, static_cast<const float*>(from) + i);
    if (!hn::AllTrue(d, hn::Lt(hn::Abs(value), hn::Set(d, 0x1p31F)))) break;
    const auto whole = rounding == Rounding::kFloor  ? hn::Floor(value)
                       : rounding == Rounding::kCeil ? hn::Ceil(value)
                       : rounding == Rounding::kRint ? hn::Round(value)
                                                     : hn::Trunc(value);
    hn::StoreU(hn::ConvertTo(integers, whole), integers, static_cast<int32_t*>(to) + i);
  }
  return i;
}

size_t of_integers(void* to, const void* from, size_t count) {
  const Floats d;
  const hn::RebindToSigned<Floats> integers;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::ConvertTo(d, hn::LoadU(integers, static_cast<const int32_t*>(from) + i)), d,
               static_cast<float*>(to) + i);
  }
  return i;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu::kernel {
namespace {

HWY_EXPORT(widen);
HWY_EXPORT(narrow);
HWY_EXPORT(to_integers);
HWY_EXPORT(of_integers);

// How many elements vectors have converted; the others follow one by one.
template <typename To, typename From>
size_t by_vectors([[maybe_unused]] To* to, [[maybe_unused]] const From* from, [[maybe_unused]] size_t count,
                  [[maybe_unused]] Rounding rounding) {
  const bool nearest = rounding == Rounding::kRint || rounding == Rounding::kNone;
  if constexpr (std::is_same_v<To, float> && std::is_same_v<From, half>) {
    return HWY_DYNAMIC_DISPATCH(widen)(to, from, count);
  } else if constexpr (std::is_same_v<To, half> && std::is_same_v<From, float>) {
    return nearest ? HWY_DYNAMIC_DISPATCH(narrow)(to, from, count) : 0;
  } else if constexpr (std::is_same_v<To, int32_t> && std::is_same_v<From, float>) {
    if (rounding == Rounding::kRound) return 0;
    return HWY_DYNAMIC_DISPATCH(to_integers)(to, from, count, nearest ? Rounding::kRint : rounding);
  } else if constexpr (std::is_same_v<To, float> && std::is_same_v<From, int32_t>) {
    return nearest ? HWY_DYNAMIC_DISPATCH(of_integers)(to, from, count) : 0;
  } else {
    return 0;
  }
}

template <typename T>
long double exact(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<long double>(value);
  } else {
    return static_cast<long double>(static_cast<float>(value));
  }
}

// Float32 to float32 rounds to an integer, which stays a float.
template <typename To, typename From>
void cast(void* out, const void* first, const void*, size_t count, const VectorInstruction& v) {
  const auto* from = static_cast<const From*>(first);
  auto* to = static_cast<To*>(out);
  [[maybe_unused]] const bool nearest = v.rounding == Rounding::kRint || v.rounding == Rounding::kNone;
  for (size_t i = by_vectors(to, from, count, v.rounding); i < count; ++i) {
    if constexpr (std::is_same_v<To, float> && sizeof(From) <= 2) {
      to[i] = static_cast<float>(from[i]);
    } else if constexpr (std::is_same_v<To, bfloat16_t> && std::is_same_v<From, float>) {
      to[i] = nearest ? bfloat16_t(from[i]) : converted<To>(exact(from[i]), v.rounding);
    } else if constexpr (std::is_same_v<To, float> && std::is_same_v<From, float>) {
      to[i] = v.rounding == Rounding::kNone ? from[i] : static_cast<float>(rounded(from[i], v.rounding));
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
