#pragma once
// Selects the least k elements of a line.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "ops/sort/candidates.h"
#include "ops/sort/packed.h"

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
  // Whether the bound changed.
  bool add(const Packed& element) {
    if (!(element < bound_)) return false;
    held_[count_++] = element;
    if (count_ < most_) return false;
    narrow();
    return true;
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

// Packs the first k of a line, in any order. Values are compared as vectors: most of them are never packed.
template <typename T>
void select_least(const T* values, int64_t k, int64_t length, bool descending, ShortPacked* line) {
  const auto packed = [&](int64_t i) {
    const uint64_t key = key_of(values[i]);
    return ShortPacked::of(descending ? key ^ UINT32_MAX : key, i);
  };
  const int64_t first = k == length ? length : most_held(k, length);
  for (int64_t i = 0; i < first; ++i) line[i] = packed(i);
  if (k == 0 || k == length) return;
  const FindCandidates<T> find = find_candidates<T>();
  Least<ShortPacked> least(line, k, first);
  least.begin(first);
  T bound = values[least.bound().place()];
  for (int64_t i = first; (i = find(values, i, length, bound, !descending)) < length;) {
    bool is_new = false;
    for (const int64_t end = std::min(i + kCandidateBlock, length); i < end; ++i) {
      is_new = least.add(packed(i)) || is_new;
    }
    if (is_new) bound = values[least.bound().place()];
  }
  least.narrow();
}

}  // namespace softnpu
