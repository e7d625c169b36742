#pragma once
// How many cores kernels may use: one number for cube cores and one for vector cores; 0 is unset.

#include <array>
#include <atomic>
#include <cstdint>

#include "acl/acl_rt.h"
#include "base/status.h"

namespace softnpu {

class CoreLimits {
 public:
  // `most` is the number that the device has.
  Status set(aclrtDevResLimitType type, uint32_t value, uint32_t most);
  void reset();
  // Returns `otherwise` if no limit was set.
  uint32_t get(aclrtDevResLimitType type, uint32_t otherwise) const;

  static Status check(aclrtDevResLimitType type);

 private:
  std::array<std::atomic<uint32_t>, 2> values_{};  // any thread
};

}  // namespace softnpu
