#include "core/overflow.h"

#include <atomic>
#include <cstdint>

#include "core/acl.h"
#include "core/device.h"
#include "core/stream.h"
#include "core/wait.h"

namespace torch_npu {
namespace {

std::atomic<OverflowCheck> chosen{OverflowCheck::kNone};

}  // namespace

void set_overflow_check(OverflowCheck check) { chosen = check; }
OverflowCheck overflow_check() noexcept { return chosen.load(std::memory_order_relaxed); }

void apply_overflow_check() {
  if (overflow_check() == OverflowCheck::kSaturate) {
    acl_check(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION), "aclrtSetDeviceSatMode");
  }
}

void apply_overflow_check(aclrtStream stream) {
  if (overflow_check() == OverflowCheck::kFlag) {
    acl_check(aclrtSetStreamOverflowSwitch(stream, 1), "aclrtSetStreamOverflowSwitch");
  }
}

bool overflow_flag(c10::DeviceIndex device) {
  wait_for_all_work(device);
  constexpr std::size_t kBytes = 64;
  void* status = nullptr;
  acl_check(aclrtMalloc(&status, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY), "aclrtMalloc");
  int32_t flag = 0;
  const aclrtStream stream = stream_handle(current_stream(device));
  aclError code = aclrtGetOverflowStatus(status, kBytes, stream);
  if (code == ACL_SUCCESS) code = aclrtSynchronizeStream(stream);
  if (code == ACL_SUCCESS) code = aclrtMemcpy(&flag, sizeof flag, status, sizeof flag, ACL_MEMCPY_DEVICE_TO_HOST);
  aclrtFree(status);
  acl_check(code, "aclrtGetOverflowStatus");
  return flag != 0;
}

void clear_overflow_flag(c10::DeviceIndex device) {
  wait_for_all_work(device);
  const aclrtStream stream = stream_handle(current_stream(device));
  acl_check(aclrtResetOverflowStatus(stream), "aclrtResetOverflowStatus");
  acl_check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
}

void raise_overflow_flag(c10::DeviceIndex device) {
  using Raise = void (*)(const void*);
  static const auto raise = reinterpret_cast<Raise>(bound_symbol("softnpuRaiseOverflow"));
  if (raise != nullptr) raise(device_range(device).first);
}

}  // namespace torch_npu
