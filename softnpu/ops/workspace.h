#pragma once
// Where the parts of a kernel's workspace lie.

#include <cstddef>

#include "base/checked.h"

namespace softnpu {

// Parts one behind the other, each from the beginning of a line of the cache.
class Workspace {
 public:
  // Where the next part begins, in bytes.
  size_t reserve(Checked bytes) {
    const size_t at = bytes_.bytes();
    bytes_ = bytes_ + round_up(bytes, kLine);
    return at;
  }
  Checked bytes() const { return bytes_; }

 private:
  static constexpr int64_t kLine = 64;
  Checked bytes_;
};

}  // namespace softnpu
