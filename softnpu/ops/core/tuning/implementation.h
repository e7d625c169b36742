#pragma once
// One of several implementations of the same work.

#include <cstdint>
#include <functional>
#include <memory>

#include "base/checked.h"
#include "fusion/fusible.h"

namespace softnpu {

struct Implementation {
  Checked workspace_bytes = {};
  // Bytes of packed weights that it caches while the weights stay unwritten.
  uint64_t packed_bytes = 0;
  // Computes the whole result, however often it is called. `workspace` is its address for host kernels.
  std::function<void(char* workspace)> run;
  std::shared_ptr<const Fusible> fusible = nullptr;  // the same work, as a fusion root
};

}  // namespace softnpu
