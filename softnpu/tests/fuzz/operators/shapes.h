#pragma once
// Numbers for arguments: mostly such that operators take them, else from the edges.

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

  // Small; once in sixteen from the edges.
  int64_t integer();
  // Near powers of two where 32 or 64 bits end, for a number or its product with others, and their negatives.
  int64_t edge();
  // A size that only a stride of 0 has room for.
  int64_t huge();
  double real();
  aclDataType dtype();
  // Up to 4 sizes up to 6, seldom more, seldom 0.
  std::vector<int64_t> sizes();
  // Like `sizes`, or as operators relate to them: broadcast, reduced, transposed, with one size changed.
  std::vector<int64_t> related(const std::vector<int64_t>& sizes);

 private:
  std::mt19937 random_;
};

}  // namespace fuzz
