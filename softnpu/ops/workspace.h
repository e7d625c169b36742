#pragma once
// Where the parts of a kernel's workspace lie.

#include <cstddef>

#include "base/round.h"

namespace softnpu {

// Parts one behind the other, each from the beginning of a line of the cache.
class Workspace {
 public:
  // Where the next part begins, in bytes.
  size_t reserve(size_t bytes) {
    const size_t at = bytes_;
    bytes_ += round_up(bytes, kLine);
    return at;
  }
  size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kLine = 64;
  size_t bytes_ = 0;
};

}  // namespace softnpu
