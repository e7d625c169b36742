#pragma once
// Selects the least k elements of a line.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "ops/tensor/sort/candidates.h"
#include "ops/tensor/sort/packed.h"

namespace softnpu {

// The least k elements of a line, in any order, of those that are added in the order of their positions: there are 2 k
// at most; then the maximum of the least k becomes the bound, which soon few elements pass.
template <typename Packed>
class Least {
 public:
  // `most`: at least k, below it if there are not as many elements.
  Least(Packed* held, int64_t k, int64_t most) : held_(held), k_(k), most_(most) {}
  // `count` elements are held before the first is added.
  void begin(int64_t count) {
    count_ = count;
    narrow();
  }
  const Packed& bound() const { return held_[k_ - 1]; }
  void add(const Packed& element) {
    if (!(element < bound_)) return;
    held_[count_++] = element;
    if (count_ == most_) narrow();
  }
  void narrow() {
    std::nth_element(held_, held_ + k_ - 1, held_ + count_);
    bound_ = held_[k_ - 1];
    count_ = k_;
  }

 private:
  Packed* held_;
  const int64_t k_;
  const int64_t most_;
  int64_t count_ = 0;
  Packed bound_{};
};

// How many elements of a line of `length` are held at once.
inline int64_t most_held(int64_t k, int64_t length) { return std::min(std::max<int64_t>(2 * k, 64), length); }

// Moves the least k of a line to the front, in any order.
template <typename Packed>
void select_least(Packed* line, int64_t k, int64_t length) {
  if (k == 0 || k == length) return;
  const int64_t first = most_held(k, length);
  Least<Packed> least(line, k, first);
  least.begin(first);
  for (int64_t i = first; i < length; ++i) least.add(line[i]);
  least.narrow();
}

template <typename T>
FindCandidates<T> find_candidates() {
  if constexpr (std::is_same_v<T, float>) return find_float_candidates();
  if constexpr (std::is_same_v<T, int32_t>) return find_int_candidates();
}

// Up to this many selected elements are kept in order, and each further one is inserted.
constexpr int64_t kMaxInserted = 32;

// Packs the first k of a line, in any order. Values are compared as vectors: most of them are never packed.
template <typename T>
void select_least(const T* values, int64_t k, int64_t length, bool descending, ShortPacked* line) {
  const auto packed = [&](int64_t i) {
    const uint64_t key = key_of(values[i]);
    return ShortPacked::of(descending ? key ^ UINT32_MAX : key, i);
  };
  const bool inserts = k <= kMaxInserted;
  const int64_t first = k == length || inserts ? k : most_held(k, length);
  for (int64_t i = 0; i < first; ++i) line[i] = packed(i);
  if (k == 0 || k == length) return;
  Least<ShortPacked> least(line, k, first);
  if (inserts) {
    std::sort(line, line + k);
  } else {
    least.begin(first);
  }
  const FindCandidates<T> find = find_candidates<T>();
  const auto bound = [&] { return values[inserts ? line[k - 1].location() : least.bound().location()]; };
  uint32_t found = 0;
  for (int64_t i = first; (i = find(values, i, length, bound(), !descending, &found)) < length; i += kCandidateBlock) {
    for (; found != 0; found &= found - 1) {
      const ShortPacked element = packed(i + std::countr_zero(found));
      if (!inserts) {
        least.add(element);
      } else if (element < line[k - 1]) {
        int64_t at = k - 1;
        for (; at > 0 && element < line[at - 1]; --at) line[at] = line[at - 1];
        line[at] = element;
      }
    }
  }
  if (!inserts) least.narrow();
}

}  // namespace softnpu
