#pragma once
// Random numbers for arguments: usually valid, sometimes extreme.

#include <cstdint>
#include <random>
#include <vector>

#include "acl/acl_base.h"

namespace fuzz {

class Numbers {
 public:
  explicit Numbers(uint32_t seed) : random_(seed) {}

  uint32_t below(uint32_t count) { return static_cast<uint32_t>(random_() % count); }
  bool once_in(uint32_t times) { return below(times) == 0; }
  template <typename T>
  const T& one_of(const std::vector<T>& values) {
    return values[below(static_cast<uint32_t>(values.size()))];
  }

  // Small; extreme once in sixteen.
  int64_t integer();
  // Near powers of two where a number, or its product with others, overflows 32 or 64 bits; and their negatives.
  int64_t edge();
  // A size that fits only with a stride of 0.
  int64_t huge();
  double real();
  aclDataType dtype();
  // Up to 4 sizes up to 6; rarely more, rarely 0.
  std::vector<int64_t> sizes();
  // Like `sizes`, or related as operators expect: broadcast, reduced, transposed, with one size changed.
  std::vector<int64_t> related(const std::vector<int64_t>& sizes);

 private:
  std::mt19937 random_;
};

}  // namespace fuzz
