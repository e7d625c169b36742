#include "core/options.h"

#include <ATen/Context.h>
#include <acl/acl.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

#include "core/acl.h"
#include "core/device.h"

namespace torch_npu {
namespace {

constexpr int64_t kLast = 4;

std::atomic<int8_t> cube_math{0};
std::atomic<bool> conv_less{true};
std::atomic<int64_t> timeout{0};  // in ms
std::atomic<bool> jit{false};
std::atomic<bool> internal_format{false};

// What each device was told last.
std::array<std::atomic<bool>, kMaxDevices> told{};

// Tells the current device, before a product or convolution is planned, whether algorithms must be deterministic. New
// contexts begin with the process's option.
void apply_determinism() {
  const bool wanted = at::globalContext().deterministicAlgorithms();
  if (!is_initialized()) return;
  const auto device = static_cast<size_t>(current_device());
  if (told[device].load(std::memory_order_relaxed) == wanted) return;
  bind_device(current_device());
  for (const char* name : {"aclrtSetSysParamOpt", "aclrtCtxSetSysParamOpt"}) {
    const auto set = reinterpret_cast<aclError (*)(aclSysParamOpt, int64_t)>(bound_symbol(name));
    if (set != nullptr) acl_check(set(ACL_OPT_DETERMINISTIC, wanted ? 1 : 0), name);
  }
  told[device].store(wanted, std::memory_order_relaxed);
}

}  // namespace

int8_t cube_math_type() {
  apply_determinism();
  return cube_math.load(std::memory_order_relaxed);
}

void set_cube_math_type(int64_t type) {
  TORCH_CHECK_VALUE(type >= 0 && type <= kLast, "cube_math_type ", type, " does not exist: it is 0 to ", kLast);
  cube_math = static_cast<int8_t>(type);
}

int8_t conv_cube_math_type() {
  apply_determinism();
  return conv_less.load(std::memory_order_relaxed) ? 1 : 0;
}
void set_conv_allow_hf32(bool on) { conv_less = on; }

void set_operator_timeout(int64_t ms) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max() / 1000;
  TORCH_CHECK_VALUE(ms >= 0 && ms <= kMax, "set_op_timeout_ms: ", ms, " ms: it is 0 (for ever) to ", kMax);
  // Earlier versions of CANN support only whole seconds.
  using InMicroseconds = aclError (*)(uint64_t, uint64_t*);
  const auto set = reinterpret_cast<InMicroseconds>(bound_symbol("aclrtSetOpExecuteTimeOutV2"));
  if (set != nullptr) {
    uint64_t actual = 0;
    acl_check(set(static_cast<uint64_t>(ms) * 1000, &actual), "aclrtSetOpExecuteTimeOutV2");
  } else {
    const int64_t seconds = std::min<int64_t>(ms / 1000 + (ms % 1000 != 0), std::numeric_limits<uint32_t>::max());
    acl_check(aclrtSetOpExecuteTimeOut(static_cast<uint32_t>(seconds)), "aclrtSetOpExecuteTimeOut");
  }
  timeout = ms;
}

int64_t operator_timeout() { return timeout.load(std::memory_order_relaxed); }

bool jit_compile() { return jit.load(std::memory_order_relaxed); }
void set_jit_compile(bool on) { jit = on; }

bool allow_internal_format() { return internal_format.load(std::memory_order_relaxed); }
void set_allow_internal_format(bool on) { internal_format = on; }

}  // namespace torch_npu
