#pragma once
// The options of aclSysParamOpt: one set per context, initialised from the process's set.

#include <array>
#include <atomic>
#include <cstdint>

#include "acl/acl_base.h"
#include "base/status.h"

namespace softnpu {

class SystemOptions {
 public:
  SystemOptions() = default;
  SystemOptions(const SystemOptions& other);
  SystemOptions& operator=(const SystemOptions&) = delete;

  Status get(aclSysParamOpt option, int64_t* value) const;
  Status set(aclSysParamOpt option, int64_t value);

 private:
  static constexpr size_t kCount = ACL_OPT_STRONG_CONSISTENCY + 1;
  std::array<std::atomic<int64_t>, kCount> values_{};  // any thread
};

}  // namespace softnpu
