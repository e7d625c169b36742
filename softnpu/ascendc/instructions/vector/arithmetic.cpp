// Arithmetic of the vector unit: float16 is computed in float32 and rounded once by each instruction; integers wrap.

#include <cmath>
#include <cstring>

#include "ascendc/instructions/vector/dispatch.h"
#include "ascendc/instructions/vector/functions.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ascendc/instructions/vector/arithmetic.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ascendc/instructions/vector/half.h"

HWY_BEFORE_NAMESPACE();
namespace softnpu::kernel {
namespace HWY_NAMESPACE {
namespace {

template <typename D>
inline constexpr bool is_real = std::is_floating_point_v<hn::TFromD<D>>;

// NaN wins, as in the maximum and minimum of IEEE 754-2019.
template <typename D, typename V>
HWY_INLINE V or_nan([[maybe_unused]] D d, V a, V b, V chosen) {
  if constexpr (is_real<D>) {
    return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, chosen));
  } else {
    return chosen;
  }
}

template <typename D, typename V>
HWY_INLINE V relu(D d, V a) {
  return or_nan(d, a, a, hn::Max(a, hn::Zero(d)));
}

// The function of a two-source instruction, and of one with a scalar in the place of the second source.
template <VectorOp op, typename D, typename V>
HWY_INLINE V of_two(D d, V a, V b) {
  if constexpr (op == VectorOp::kAdd || op == VectorOp::kAdds) return hn::Add(a, b);
  if constexpr (op == VectorOp::kSub) return hn::Sub(a, b);
  if constexpr (op == VectorOp::kMul || op == VectorOp::kMuls) return hn::Mul(a, b);
  if constexpr (op == VectorOp::kDiv) return hn::Div(a, b);
  if constexpr (op == VectorOp::kMax || op == VectorOp::kMaxs) return or_nan(d, a, b, hn::Max(a, b));
  if constexpr (op == VectorOp::kMin || op == VectorOp::kMins) return or_nan(d, a, b, hn::Min(a, b));
  if constexpr (op == VectorOp::kAnd) return hn::And(a, b);
  if constexpr (op == VectorOp::kOr) return hn::Or(a, b);
  if constexpr (op == VectorOp::kAddRelu) return relu(d, hn::Add(a, b));
  if constexpr (op == VectorOp::kLeakyRelu) return hn::IfThenElse(hn::Gt(a, hn::Zero(d)), a, hn::Mul(a, b));
}

template <VectorOp op, typename D, typename V>
HWY_INLINE V of_one(D d, V a) {
  if constexpr (op == VectorOp::kAbs) return hn::Abs(a);
  if constexpr (op == VectorOp::kSqrt) return hn::Sqrt(a);
  if constexpr (op == VectorOp::kRelu) return relu(d, a);
  if constexpr (op == VectorOp::kNot) return hn::Not(a);
}

// Of what the destination holds and two sources.
template <VectorOp op, typename D, typename V>
HWY_INLINE V of_three([[maybe_unused]] D d, V held, V a, V b) {
  if constexpr (op == VectorOp::kMulAddDst || op == VectorOp::kAxpy) {
    if constexpr (is_real<D>)
      return hn::MulAdd(a, b, held);
    else
      return hn::Add(hn::Mul(a, b), held);
  }
}

// Runs `of(at)` for whole vectors and, on copies, for the rest.
template <typename T, int sources, bool reads_destination, typename Function>
HWY_INLINE void loop(T* out, const T* first, const T* second, size_t count, const Function& of) {
  using E = Elements<T>;
  const size_t lanes = hn::Lanes(typename E::Tag());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) of(out + i, first + i, second + i);
  if (i == count) return;
  HWY_ALIGN T rest[3][hn::MaxLanes(typename E::Tag())] = {};
  const size_t bytes = (count - i) * sizeof(T);
  if (reads_destination) std::memcpy(rest[0], out + i, bytes);
  if (sources > 0) std::memcpy(rest[1], first + i, bytes);
  if (sources > 1) std::memcpy(rest[2], second + i, bytes);
  of(rest[0], rest[1], rest[2]);
  std::memcpy(out + i, rest[0], bytes);
}

template <typename T>
HWY_INLINE auto scalar_of(const VectorInstruction& v) {
  using E = Elements<T>;
  T value;
  std::memcpy(&value, v.scalar, sizeof(T));
  HWY_ALIGN T copies[hn::MaxLanes(typename E::Tag())];
  for (T& copy : copies) copy = value;
  return E::load(copies);
}

template <VectorOp op, typename T>
void two_sources(void* out, const void* first, const void* second, size_t count, const VectorInstruction&) {
  using E = Elements<T>;
  const typename E::Tag d;
  loop<T, 2, false>(static_cast<T*>(out), static_cast<const T*>(first), static_cast<const T*>(second), count,
                    [d](T* to, const T* a, const T* b)
                        HWY_ATTR { E::store(of_two<op>(d, E::load(a), E::load(b)), to); });
}

template <VectorOp op, typename T>
void with_scalar(void* out, const void* first, const void*, size_t count, const VectorInstruction& v) {
  using E = Elements<T>;
  const typename E::Tag d;
  const auto scalar = scalar_of<T>(v);
  const T* in = static_cast<const T*>(first);
  loop<T, 1, false>(static_cast<T*>(out), in, in, count, [d, scalar](T* to, const T* a, const T*) HWY_ATTR {
    E::store(of_two<op>(d, E::load(a), scalar), to);
  });
}

template <VectorOp op, typename T>
void one_source(void* out, const void* first, const void*, size_t count, const VectorInstruction&) {
  using E = Elements<T>;
  const typename E::Tag d;
  const T* in = static_cast<const T*>(first);
  loop<T, 1, false>(static_cast<T*>(out), in, in, count,
                    [d](T* to, const T* a, const T*) HWY_ATTR { E::store(of_one<op>(d, E::load(a)), to); });
}

template <VectorOp op, typename T>
void accumulating(void* out, const void* first, const void* second, size_t count, const VectorInstruction&) {
  using E = Elements<T>;
  const typename E::Tag d;
  loop<T, 2, true>(static_cast<T*>(out), static_cast<const T*>(first), static_cast<const T*>(second), count,
                   [d](T* to, const T* a, const T* b)
                       HWY_ATTR { E::store(of_three<op>(d, E::load(to), E::load(a), E::load(b)), to); });
}

template <typename T>
void axpy(void* out, const void* first, const void*, size_t count, const VectorInstruction& v) {
  using E = Elements<T>;
  const typename E::Tag d;
  const auto scalar = scalar_of<T>(v);
  const T* in = static_cast<const T*>(first);
  loop<T, 1, true>(static_cast<T*>(out), in, in, count, [d, scalar](T* to, const T* a, const T*) HWY_ATTR {
    E::store(of_three<VectorOp::kAxpy>(d, E::load(to), E::load(a), scalar), to);
  });
}

template <typename T>
void duplicate(void* out, const void*, const void*, size_t count, const VectorInstruction& v) {
  T value;
  std::memcpy(&value, v.scalar, sizeof(T));
  T* to = static_cast<T*>(out);
  for (size_t i = 0; i < count; ++i) to[i] = value;
}

template <template <VectorOp, typename> class Make, VectorOp op, typename... T>
VectorFunction first_of(DataType type) {
  VectorFunction found = nullptr;
  ((found = Make<op, T>::type == type ? Make<op, T>::function : found), ...);
  return found;
}

template <typename T>
constexpr DataType stored_type() {
  if constexpr (std::is_same_v<T, hwy::float16_t>)
    return DataType::kHalf;
  else
    return data_type_of<T>();
}

template <VectorOp op, typename T>
struct Two {
  static constexpr DataType type = stored_type<T>();
  static constexpr VectorFunction function = &two_sources<op, T>;
};
template <VectorOp op, typename T>
struct Scalar {
  static constexpr DataType type = stored_type<T>();
  static constexpr VectorFunction function = &with_scalar<op, T>;
};
template <VectorOp op, typename T>
struct One {
  static constexpr DataType type = stored_type<T>();
  static constexpr VectorFunction function = &one_source<op, T>;
};
template <VectorOp op, typename T>
struct Accumulating {
  static constexpr DataType type = stored_type<T>();
  static constexpr VectorFunction function = &accumulating<op, T>;
};
template <VectorOp, typename T>
struct Axpy {
  static constexpr DataType type = stored_type<T>();
  static constexpr VectorFunction function = &axpy<T>;
};
template <VectorOp, typename T>
struct Duplicate {
  static constexpr DataType type = stored_type<T>();
  static constexpr VectorFunction function = &duplicate<T>;
};

using H = hwy::float16_t;

// The instructions of the unit and their element types.
VectorFunction find(VectorOp op, DataType type) {
  using enum VectorOp;
  switch (op) {
    case kAbs: return first_of<One, kAbs, H, float, int16_t, int32_t>(type);
    case kSqrt: return first_of<One, kSqrt, H, float>(type);
    case kRelu: return first_of<One, kRelu, H, float, int32_t>(type);
    case kNot: return first_of<One, kNot, int16_t, uint16_t, int32_t, uint32_t>(type);
    case kAdd: return first_of<Two, kAdd, H, float, int16_t, int32_t>(type);
    case kSub: return first_of<Two, kSub, H, float, int16_t, int32_t>(type);
    case kMul: return first_of<Two, kMul, H, float, int16_t, int32_t>(type);
    case kDiv: return first_of<Two, kDiv, H, float>(type);
    case kMax: return first_of<Two, kMax, H, float, int16_t, int32_t>(type);
    case kMin: return first_of<Two, kMin, H, float, int16_t, int32_t>(type);
    case kAnd: return first_of<Two, kAnd, uint8_t, int16_t, uint16_t, int32_t, uint32_t>(type);
    case kOr: return first_of<Two, kOr, uint8_t, int16_t, uint16_t, int32_t, uint32_t>(type);
    case kAddRelu: return first_of<Two, kAddRelu, H, float>(type);
    case kMulAddDst: return first_of<Accumulating, kMulAddDst, H, float>(type);
    case kAdds: return first_of<Scalar, kAdds, H, float, int16_t, int32_t>(type);
    case kMuls: return first_of<Scalar, kMuls, H, float, int16_t, int32_t>(type);
    case kMaxs: return first_of<Scalar, kMaxs, H, float, int16_t, int32_t>(type);
    case kMins: return first_of<Scalar, kMins, H, float, int16_t, int32_t>(type);
    case kLeakyRelu: return first_of<Scalar, kLeakyRelu, H, float>(type);
    case kAxpy: return first_of<Axpy, kAxpy, H, float>(type);
    case kDuplicate:
      return first_of<Duplicate, kDuplicate, int8_t, uint8_t, H, int16_t, uint16_t, float, int32_t, uint32_t, int64_t,
                      uint64_t>(type);
    default: return nullptr;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu::kernel {

HWY_EXPORT(find);
// A bfloat16 value is two bytes like another, and Duplicate copies them.
VectorFunction arithmetic_function(VectorOp op, DataType type) {
  limit_simd_targets();
  if (op == VectorOp::kDuplicate && type == DataType::kBfloat16) type = DataType::kUint16;
  return HWY_DYNAMIC_DISPATCH(find)(op, type);
}

}  // namespace softnpu::kernel
#endif
