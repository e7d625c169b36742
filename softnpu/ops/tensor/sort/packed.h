#pragma once
// Elements as unsigned integers in the order of their values, combined with their positions: sorting code needs no
// dtypes.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "ops/core/convert/typed.h"

namespace softnpu {

// Keys of floating-point numbers: both zeros are equal, NaN is the greatest.
inline uint64_t key_of(float value) {
  if (value != value) return UINT32_MAX;
  const auto bits = std::bit_cast<uint32_t>(value == 0 ? 0.0F : value);
  return bits & 0x80000000U ? ~bits : bits | 0x80000000U;
}
inline uint64_t key_of(double value) {
  if (value != value) return UINT64_MAX;
  const auto bits = std::bit_cast<uint64_t>(value == 0 ? 0.0 : value);
  return bits >> 63 != 0 ? ~bits : bits | uint64_t{1} << 63;
}
inline uint64_t key_of(int32_t value) { return static_cast<uint32_t>(value) ^ 0x80000000U; }
inline uint64_t key_of(int64_t value) {
  return static_cast<uint64_t>(value) ^ uint64_t { 1 } << 63;
}
inline uint64_t key_of(uint64_t value) { return value; }

// Whether the keys of a dtype have 32 bits; otherwise 64.
bool has_short_keys(aclDataType dtype);
// The key of NaN; 0, which no other number has, if the type has no NaN.
uint64_t nan_key(aclDataType dtype);

// A 32-bit key above a 32-bit position.
struct ShortPacked {
  static constexpr int kDigits = 4;
  uint64_t bits;
  static ShortPacked of(uint64_t key, int64_t location) { return {key << 32 | static_cast<uint64_t>(location)}; }
  uint64_t key() const { return bits >> 32; }
  int64_t location() const { return static_cast<int64_t>(bits & UINT32_MAX); }
  friend bool operator<(ShortPacked a, ShortPacked b) { return a.bits < b.bits; }
};

struct LongPacked {
  static constexpr int kDigits = 8;
  uint64_t bits;
  int64_t at;
  static LongPacked of(uint64_t key, int64_t location) { return {key, location}; }
  uint64_t key() const { return bits; }
  int64_t location() const { return at; }
  friend bool operator<(const LongPacked& a, const LongPacked& b) {
    return a.bits != b.bits ? a.bits < b.bits : a.at < b.at;
  }
};

// Calls body.template operator()<Packed>() with the packed type for `count` elements of `dtype`.
template <typename Body>
decltype(auto) with_packed(aclDataType dtype, int64_t count, Body&& body) {
  if (has_short_keys(dtype) && count <= int64_t{UINT32_MAX}) return body.template operator()<ShortPacked>();
  return body.template operator()<LongPacked>();
}
inline uint64_t packed_size(aclDataType dtype, int64_t count) {
  return with_packed(dtype, count, []<typename Packed>() { return sizeof(Packed); });
}

// Packs elements `stride` bytes apart, with positions from `location` on. Descending keys are complemented, so that
// equal elements keep their order.
template <typename Packed>
void pack(aclDataType dtype, const char* from, ptrdiff_t stride, int64_t count, int64_t location, bool descending,
          Packed* out) {
  const uint64_t flip = descending ? (Packed::kDigits == 4 ? uint64_t{UINT32_MAX} : UINT64_MAX) : 0;
  with_real(dtype, [&]<typename Element>() {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = Packed::of(key_of(Element::load(from + i * stride)) ^ flip, location + i);
    }
  });
}

// Sorts by key, then position; the input must be in the order of positions. `scratch` has the same size. Returns which
// of the two contains the result.
template <typename Packed>
Packed* sort_packed(Packed* values, Packed* scratch, int64_t count) {
  constexpr int64_t kFew = 256;  // below this a comparison sort is faster than a radix sort
  if (count <= kFew) {
    std::sort(values, values + count);
    return values;
  }
  std::array<std::array<int64_t, 256>, Packed::kDigits> counts{};
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t key = values[i].key();
    for (int digit = 0; digit < Packed::kDigits; ++digit) ++counts[digit][key >> 8 * digit & 255];
  }
  for (int digit = 0; digit < Packed::kDigits; ++digit) {
    auto& places = counts[digit];
    if (places[values[0].key() >> 8 * digit & 255] == count) continue;  // all have the same digit
    int64_t sum = 0;
    for (int64_t& location : places) sum += std::exchange(location, sum);
    for (int64_t i = 0; i < count; ++i) scratch[places[values[i].key() >> 8 * digit & 255]++] = values[i];
    std::swap(values, scratch);
  }
  return values;
}

}  // namespace softnpu
