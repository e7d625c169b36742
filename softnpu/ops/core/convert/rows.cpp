#include "ops/core/convert/rows.h"

#include <array>
#include <complex>
#include <cstring>

#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/core/convert/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Elements per chunk of strided memory: they are gathered first.
constexpr size_t kGroup = 64;

template <typename T>
HWY_INLINE void collect(const void* from, ptrdiff_t stride, size_t count, T* HWY_RESTRICT to) {
  const char* at = static_cast<const char*>(from);
  for (size_t i = 0; i < count; ++i, at += stride) std::memcpy(to + i, at, sizeof(T));
}

template <typename T>
HWY_INLINE void spread(const T* HWY_RESTRICT from, size_t count, void* to, ptrdiff_t stride) {
  char* at = static_cast<char*>(to);
  for (size_t i = 0; i < count; ++i, at += stride) std::memcpy(at, from + i, sizeof(T));
}

// Values stored as T and computed as W, if C++ converts between them.
template <typename T, typename W>
struct Plain {
  using Stored = T;
  using Computed = W;
  static HWY_INLINE void widen(const T* HWY_RESTRICT from, size_t count, W* HWY_RESTRICT to) {
    for (size_t i = 0; i < count; ++i) to[i] = static_cast<W>(from[i]);
  }
  static HWY_INLINE void narrow(const W* HWY_RESTRICT from, size_t count, T* HWY_RESTRICT to) {
    for (size_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i]);
  }
};

// Any nonzero byte is true; true is stored as 1.
struct Bool {
  using Stored = uint8_t;
  using Computed = int32_t;
  static HWY_INLINE void widen(const uint8_t* HWY_RESTRICT from, size_t count, int32_t* HWY_RESTRICT to) {
    for (size_t i = 0; i < count; ++i) to[i] = from[i] != 0;
  }
  static HWY_INLINE void narrow(const int32_t* HWY_RESTRICT from, size_t count, uint8_t* HWY_RESTRICT to) {
    for (size_t i = 0; i < count; ++i) to[i] = from[i] != 0;
  }
};

HWY_INLINE uint16_t to_bfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? 0x7FC0 : rounded);
}

struct BFloat16 {
  using Stored = uint16_t;
  using Computed = float;
  static HWY_INLINE void widen(const uint16_t* HWY_RESTRICT from, size_t count, float* HWY_RESTRICT to) {
    for (size_t i = 0; i < count; ++i) {
      const uint32_t bits = static_cast<uint32_t>(from[i]) << 16;
      std::memcpy(to + i, &bits, sizeof bits);
    }
  }
  static HWY_INLINE void narrow(const float* HWY_RESTRICT from, size_t count, uint16_t* HWY_RESTRICT to) {
    for (size_t i = 0; i < count; ++i) to[i] = to_bfloat16(from[i]);
  }
};

struct Float16 {
  using Stored = uint16_t;
  using Computed = float;
  static HWY_INLINE void widen(const uint16_t* from, size_t count, float* to) {
    const hn::ScalableTag<float> full;
    const hn::Rebind<hwy::float16_t, decltype(full)> narrow;
    const size_t lanes = hn::Lanes(full);
    const auto* halves = reinterpret_cast<const hwy::float16_t*>(from);
    size_t i = 0;
    for (; i + lanes <= count; i += lanes) hn::StoreU(hn::PromoteTo(full, hn::LoadU(narrow, halves + i)), full, to + i);
    if (i == count) return;
    HWY_ALIGN hwy::float16_t in[hn::MaxLanes(full)] = {};
    HWY_ALIGN float out[hn::MaxLanes(full)];
    std::memcpy(in, halves + i, (count - i) * sizeof *in);
    hn::Store(hn::PromoteTo(full, hn::Load(narrow, in)), full, out);
    std::memcpy(to + i, out, (count - i) * sizeof *out);
  }
  static HWY_INLINE void narrow(const float* from, size_t count, uint16_t* to) {
    const hn::ScalableTag<float> full;
    const hn::Rebind<hwy::float16_t, decltype(full)> narrow;
    const size_t lanes = hn::Lanes(full);
    auto* halves = reinterpret_cast<hwy::float16_t*>(to);
    size_t i = 0;
    for (; i + lanes <= count; i += lanes)
      hn::StoreU(hn::DemoteTo(narrow, hn::LoadU(full, from + i)), narrow, halves + i);
    if (i == count) return;
    HWY_ALIGN float in[hn::MaxLanes(full)] = {};
    HWY_ALIGN hwy::float16_t out[hn::MaxLanes(full)];
    std::memcpy(in, from + i, (count - i) * sizeof *in);
    hn::Store(hn::DemoteTo(narrow, hn::Load(full, in)), narrow, out);
    std::memcpy(halves + i, out, (count - i) * sizeof *out);
  }
};

// Two halves per number.
struct Complex32 {
  using Stored = uint32_t;
  using Computed = std::complex<float>;
  static HWY_INLINE void widen(const uint32_t* from, size_t count, std::complex<float>* to) {
    Float16::widen(reinterpret_cast<const uint16_t*>(from), 2 * count, reinterpret_cast<float*>(to));
  }
  static HWY_INLINE void narrow(const std::complex<float>* from, size_t count, uint32_t* to) {
    Float16::narrow(reinterpret_cast<const float*>(from), 2 * count, reinterpret_cast<uint16_t*>(to));
  }
};

template <typename Format>
void load(const void* from, ptrdiff_t stride, size_t count, void* values) {
  using T = typename Format::Stored;
  auto* to = static_cast<typename Format::Computed*>(values);
  if (stride == static_cast<ptrdiff_t>(sizeof(T))) return Format::widen(static_cast<const T*>(from), count, to);
  HWY_ALIGN T group[kGroup];
  for (size_t i = 0; i < count; i += kGroup) {
    const size_t here = HWY_MIN(kGroup, count - i);
    collect(static_cast<const char*>(from) + static_cast<ptrdiff_t>(i) * stride, stride, here, group);
    Format::widen(group, here, to + i);
  }
}

template <typename Format>
void store(const void* values, size_t count, void* to, ptrdiff_t stride) {
  using T = typename Format::Stored;
  const auto* from = static_cast<const typename Format::Computed*>(values);
  if (stride == static_cast<ptrdiff_t>(sizeof(T))) return Format::narrow(from, count, static_cast<T*>(to));
  HWY_ALIGN T group[kGroup];
  for (size_t i = 0; i < count; i += kGroup) {
    const size_t here = HWY_MIN(kGroup, count - i);
    Format::narrow(from + i, here, group);
    spread(group, here, static_cast<char*>(to) + static_cast<ptrdiff_t>(i) * stride, stride);
  }
}

template <typename From>
HWY_INLINE auto real(From value) {
  if constexpr (std::is_arithmetic_v<From>) {
    return value;
  } else {
    return value.real();
  }
}

template <typename From, typename To>
void widen(const void* from, size_t count, void* to) {
  const auto* in = static_cast<const From*>(from);
  auto* out = static_cast<To*>(to);
  for (size_t i = 0; i < count; ++i) {
    if constexpr (std::is_arithmetic_v<To>) {
      out[i] = static_cast<To>(real(in[i]));
    } else {
      out[i] = static_cast<To>(in[i]);
    }
  }
}

template <typename From>
void truth(const void* from, size_t count, void* to) {
  const auto* in = static_cast<const From*>(from);
  auto* out = static_cast<int32_t*>(to);
  for (size_t i = 0; i < count; ++i) out[i] = in[i] != From(0);
}

struct Rows {
  LoadRow load;
  StoreRow store;
};

template <typename Format>
constexpr Rows rows_of() {
  return {&load<Format>, &store<Format>};
}

Rows rows_for(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT: return rows_of<Plain<float, float>>();
    case ACL_DOUBLE: return rows_of<Plain<double, double>>();
    case ACL_FLOAT16: return rows_of<Float16>();
    case ACL_BF16: return rows_of<BFloat16>();
    case ACL_INT8: return rows_of<Plain<int8_t, int32_t>>();
    case ACL_INT16: return rows_of<Plain<int16_t, int32_t>>();
    case ACL_INT32: return rows_of<Plain<int32_t, int32_t>>();
    case ACL_INT64: return rows_of<Plain<int64_t, int64_t>>();
    case ACL_UINT8: return rows_of<Plain<uint8_t, int32_t>>();
    case ACL_UINT16: return rows_of<Plain<uint16_t, int32_t>>();
    case ACL_UINT32: return rows_of<Plain<uint32_t, int64_t>>();
    case ACL_UINT64: return rows_of<Plain<uint64_t, uint64_t>>();
    case ACL_BOOL: return rows_of<Bool>();
    case ACL_COMPLEX32: return rows_of<Complex32>();
    case ACL_COMPLEX64: return rows_of<Plain<std::complex<float>, std::complex<float>>>();
    case ACL_COMPLEX128: return rows_of<Plain<std::complex<double>, std::complex<double>>>();
    default: return {nullptr, nullptr};
  }
}

ConvertComputed compute_row_for(ComputeType from, ComputeType to) {
  return with_compute_type(from, [to]<typename From>() {
    return with_compute_type(to, []<typename To>() -> ConvertComputed { return &widen<From, To>; });
  });
}

ConvertComputed truth_row_for(ComputeType from) {
  return with_compute_type(from, []<typename From>() -> ConvertComputed { return &truth<From>; });
}

LoadRow load_row_for(aclDataType dtype) { return rows_for(dtype).load; }
StoreRow store_row_for(aclDataType dtype) { return rows_for(dtype).store; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace softnpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu {
namespace {

HWY_EXPORT(load_row_for);
HWY_EXPORT(store_row_for);
HWY_EXPORT(compute_row_for);
HWY_EXPORT(truth_row_for);

}  // namespace

LoadRow load_row(aclDataType dtype) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(load_row_for)(dtype);
}

StoreRow store_row(aclDataType dtype) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(store_row_for)(dtype);
}

ConvertComputed compute_row(ComputeType from, ComputeType to) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(compute_row_for)(from, to);
}

ConvertComputed truth_row(ComputeType from) {
  limit_simd_targets();
  return HWY_DYNAMIC_DISPATCH(truth_row_for)(from);
}

}  // namespace softnpu
#endif
