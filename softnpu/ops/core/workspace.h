#pragma once
// Offsets of the parts of a kernel's workspace.

#include <cstddef>

#include "base/checked.h"

namespace softnpu {

// Consecutive parts, each aligned to a cache line.
class Workspace {
 public:
  // Reserves a part and returns its offset in bytes.
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
