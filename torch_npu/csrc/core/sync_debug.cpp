#include "core/sync_debug.h"

#include <c10/util/Exception.h>

#include <atomic>

namespace torch_npu {
namespace {

constexpr int64_t kWarn = 1;
constexpr int64_t kError = 2;

std::atomic<int64_t> debug_mode{0};

}  // namespace

void set_sync_debug_mode(int64_t mode) {
  TORCH_CHECK(mode >= 0 && mode <= kError, "invalid value of debug_mode, expected one of 0,1,2, but got ", mode);
  debug_mode = mode;
}

int64_t sync_debug_mode() noexcept { return debug_mode.load(std::memory_order_relaxed); }

void alert_of_synchronization() {
  const int64_t mode = sync_debug_mode();
  if (C10_LIKELY(mode == 0)) return;
  TORCH_CHECK(mode == kWarn, "called a synchronizing NPU operation");
  TORCH_WARN("called a synchronizing NPU operation");
}

}  // namespace torch_npu
