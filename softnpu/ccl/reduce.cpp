#include "ccl/reduce.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "simd/non_temporal.h"
#include "simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ccl/reduce.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace softnpu::ccl {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Elements that are stored as T and computed as they are.
template <typename T>
struct Plain {
  using Stored = T;
  using Tag = hn::ScalableTag<T>;
  using Vector = hn::Vec<Tag>;
  static HWY_INLINE Vector load(const T* from) { return hn::LoadU(Tag(), from); }
  static HWY_INLINE void store(Vector value, T* to) { hn::StoreU(value, Tag(), to); }
};

struct Half {
  using Stored = hwy::float16_t;
  using Tag = hn::ScalableTag<float>;
  using Vector = hn::Vec<Tag>;
  using Narrow = hn::Rebind<hwy::float16_t, Tag>;
  static HWY_INLINE Vector load(const hwy::float16_t* from) { return hn::PromoteTo(Tag(), hn::LoadU(Narrow(), from)); }
  static HWY_INLINE void store(Vector value, hwy::float16_t* to) {
    hn::StoreU(hn::DemoteTo(Narrow(), value), Narrow(), to);
  }
};

// bfloat16 by its bits: the upper half of a float32.
struct Brain {
  using Stored = uint16_t;
  using Tag = hn::ScalableTag<float>;
  using Vector = hn::Vec<Tag>;
  using Bits = hn::RebindToUnsigned<Tag>;
  using Narrow = hn::Rebind<uint16_t, Tag>;
  static HWY_INLINE Vector load(const uint16_t* from) {
    return hn::BitCast(Tag(), hn::ShiftLeft<16>(hn::PromoteTo(Bits(), hn::LoadU(Narrow(), from))));
  }
  static HWY_INLINE void store(Vector value, uint16_t* to) {
    const Bits bits;
    const auto raw = hn::BitCast(bits, value);
    const auto odd = hn::And(hn::ShiftRight<16>(raw), hn::Set(bits, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(raw, hn::Add(odd, hn::Set(bits, 0x7fff))));
    const auto quiet = hn::Or(hn::ShiftRight<16>(raw), hn::Set(bits, 0x40));
    const auto is_nan = hn::RebindMask(bits, hn::IsNaN(value));
    const auto chosen = hn::IfThenElse(is_nan, quiet, rounded);
    const hn::RebindToSigned<Tag> numbers;
    hn::StoreU(hn::DemoteTo(Narrow(), hn::BitCast(numbers, chosen)), Narrow(), to);
  }
};

struct Sum {
  template <typename Tag, typename V>
  static HWY_INLINE V of(Tag, V a, V b) {
    return hn::Add(a, b);
  }
};

struct Product {
  template <typename Tag, typename V>
  static HWY_INLINE V of(Tag tag, V a, V b) {
    using T = hn::TFromD<Tag>;
    if constexpr (std::is_floating_point_v<T> || sizeof(T) == 2 || sizeof(T) == 4) {
      return hn::Mul(a, b);
    } else {  // vector units multiply neither bytes nor, most of them, 64 bits
      HWY_ALIGN T one[hn::MaxLanes(tag)];
      HWY_ALIGN T other[hn::MaxLanes(tag)];
      hn::Store(a, tag, one);
      hn::Store(b, tag, other);
      for (size_t i = 0; i < hn::Lanes(tag); ++i) {
        one[i] = static_cast<T>(static_cast<uint64_t>(one[i]) * static_cast<uint64_t>(other[i]));
      }
      return hn::Load(tag, one);
    }
  }
};

// NaN wins.
template <typename Tag, typename V>
HWY_INLINE V or_nan(Tag, V a, V b, V chosen) {
  if constexpr (std::is_floating_point_v<hn::TFromD<Tag>>) {
    return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, chosen));
  } else {
    return chosen;
  }
}

struct Largest {
  template <typename Tag, typename V>
  static HWY_INLINE V of(Tag tag, V a, V b) {
    return or_nan(tag, a, b, hn::Max(a, b));
  }
};

struct Smallest {
  template <typename Tag, typename V>
  static HWY_INLINE V of(Tag tag, V a, V b) {
    return or_nan(tag, a, b, hn::Min(a, b));
  }
};

template <typename Element, typename Operation>
HWY_INLINE void reduce_all(std::span<const char* const> inputs, size_t count, char* output) {
  using Stored = typename Element::Stored;
  const typename Element::Tag tag;
  const size_t lanes = hn::Lanes(tag);
  const auto reduced = [&](size_t at, auto&& load) HWY_ATTR {
    auto value = load(inputs.front(), at);
    for (size_t i = 1; i < inputs.size(); ++i) value = Operation::of(tag, value, load(inputs[i], at));
    return value;
  };
  const auto whole = [](const char* input, size_t at)
                         HWY_ATTR { return Element::load(reinterpret_cast<const Stored*>(input) + at); };
  auto* to = reinterpret_cast<Stored*>(output);
  size_t at = 0;
  // Two chains at a time hide an operation's latency.
  for (; at + 2 * lanes <= count; at += 2 * lanes) {
    const auto first = reduced(at, whole);
    const auto second = reduced(at + lanes, whole);
    Element::store(first, to + at);
    Element::store(second, to + at + lanes);
  }
  for (; at + lanes <= count; at += lanes) Element::store(reduced(at, whole), to + at);
  if (at == count) return;
  const size_t rest = (count - at) * sizeof(Stored);
  HWY_ALIGN Stored part[hn::MaxLanes(tag)] = {};
  const auto padded = [&](const char* input, size_t first) HWY_ATTR {
    std::memcpy(part, reinterpret_cast<const Stored*>(input) + first, rest);
    return Element::load(part);
  };
  Element::store(reduced(at, padded), part);
  std::memcpy(to + at, part, rest);
}

template <typename Element>
HWY_INLINE void reduce_elements(HcclReduceOp op, std::span<const char* const> inputs, size_t count, char* output) {
  switch (op) {
    case HCCL_REDUCE_SUM: return reduce_all<Element, Sum>(inputs, count, output);
    case HCCL_REDUCE_PROD: return reduce_all<Element, Product>(inputs, count, output);
    case HCCL_REDUCE_MAX: return reduce_all<Element, Largest>(inputs, count, output);
    case HCCL_REDUCE_MIN: return reduce_all<Element, Smallest>(inputs, count, output);
  }
}

// In blocks that stay in the first-level cache until `copy` stores them.
template <typename Element>
HWY_INLINE void reduce_blocks(HcclReduceOp op, std::span<const char* const> inputs, size_t count, char* output,
                              NonTemporalCopy copy) {
  using Stored = typename Element::Stored;
  if (copy == nullptr) return reduce_elements<Element>(op, inputs, count, output);
  constexpr size_t kBlock = 8192 / sizeof(Stored);
  alignas(64) Stored block[kBlock];
  std::vector<const char*> from(inputs.begin(), inputs.end());
  for (size_t at = 0; at < count; at += kBlock) {
    const size_t length = std::min(kBlock, count - at);
    reduce_elements<Element>(op, from, length, reinterpret_cast<char*>(block));
    for (const char*& input : from) input += length * sizeof(Stored);
    // Meanwhile the last rank's next block comes into the caches.
    copy(output + at * sizeof(Stored), block, length * sizeof(Stored), from.back());
  }
}

}  // namespace

void reduce_any(HcclDataType type, HcclReduceOp op, std::span<const char* const> inputs, size_t count, char* output,
                NonTemporalCopy copy) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8: return reduce_blocks<Plain<int8_t>>(op, inputs, count, output, copy);
    case HCCL_DATA_TYPE_INT16: return reduce_blocks<Plain<int16_t>>(op, inputs, count, output, copy);
    case HCCL_DATA_TYPE_INT32: return reduce_blocks<Plain<int32_t>>(op, inputs, count, output, copy);
    case HCCL_DATA_TYPE_INT64: return reduce_blocks<Plain<int64_t>>(op, inputs, count, output, copy);
    case HCCL_DATA_TYPE_UINT8: return reduce_blocks<Plain<uint8_t>>(op, inputs, count, output, copy);
    case HCCL_DATA_TYPE_UINT16: return reduce_blocks<Plain<uint16_t>>(op, inputs, count, output, copy);
    case HCCL_DATA_TYPE_UINT32: return reduce_blocks<Plain<uint32_t>>(op, inputs, count, output, copy);
    case HCCL_DATA_TYPE_UINT64: return reduce_blocks<Plain<uint64_t>>(op, inputs, count, output, copy);
    case HCCL_DATA_TYPE_FP16: return reduce_blocks<Half>(op, inputs, count, output, copy);
    case HCCL_DATA_TYPE_BFP16: return reduce_blocks<Brain>(op, inputs, count, output, copy);
    case HCCL_DATA_TYPE_FP32: return reduce_blocks<Plain<float>>(op, inputs, count, output, copy);
    case HCCL_DATA_TYPE_FP64: return reduce_blocks<Plain<double>>(op, inputs, count, output, copy);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace softnpu::ccl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softnpu::ccl {
HWY_EXPORT(reduce_any);

void reduce(HcclDataType type, HcclReduceOp op, std::span<const char* const> inputs, size_t count, char* output,
            bool non_temporal) {
  limit_simd_targets();
  // Lines of an input are in the caches already.
  const bool around_caches = non_temporal && std::ranges::find(inputs, output) == inputs.end();
  HWY_DYNAMIC_DISPATCH(reduce_any)
  (type, op, inputs, count, output, around_caches ? non_temporal_copy() : nullptr);
  if (around_caches) fence_non_temporal_stores();
}

}  // namespace softnpu::ccl
#endif  // HWY_ONCE
