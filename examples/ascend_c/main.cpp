// Launches the kernel axpy with ACL alone: memory, copies, the launch, one wait.

#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "aclrtlaunch_axpy.h"

namespace {

bool is_done(const char* what, aclError code) {
  if (code == ACL_SUCCESS) return true;
  const char* why = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: error %d: %s\n", what, code, why == nullptr ? "" : why);
  return false;
}

bool run() {
  constexpr uint32_t kCount = 8 * 1024;
  constexpr size_t kBytes = kCount * sizeof(float);
  std::vector<float> x(kCount, 1.5F), y(kCount, 1.0F);
  aclrtStream stream = nullptr;
  void *x_device = nullptr, *y_device = nullptr;
  bool ok = is_done("aclrtCreateStream", aclrtCreateStream(&stream)) &&
            is_done("aclrtMalloc", aclrtMalloc(&x_device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST)) &&
            is_done("aclrtMalloc", aclrtMalloc(&y_device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST)) &&
            is_done("aclrtMemcpy", aclrtMemcpy(x_device, kBytes, x.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE)) &&
            is_done("aclrtMemcpy", aclrtMemcpy(y_device, kBytes, y.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  const auto launch = [&] {
    return static_cast<aclError>(ACLRT_LAUNCH_KERNEL(axpy)(8, stream, x_device, y_device, kCount, 2.0F));
  };
  ok = ok && is_done("axpy", launch()) && is_done("aclrtSynchronizeStream", aclrtSynchronizeStream(stream)) &&
       is_done("aclrtMemcpy", aclrtMemcpy(y.data(), kBytes, y_device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  if (ok) std::printf("2 * 1.5 + 1 = %g, %u times\n", static_cast<double>(y.back()), kCount);
  aclrtFree(x_device);
  aclrtFree(y_device);
  aclrtDestroyStream(stream);
  return ok;
}

}  // namespace

int main() {
  if (!is_done("aclInit", aclInit(nullptr)) || !is_done("aclrtSetDevice", aclrtSetDevice(0))) return 1;
  const bool ok = run();
  aclrtResetDevice(0);
  aclFinalize();
  return ok ? 0 : 1;
}
