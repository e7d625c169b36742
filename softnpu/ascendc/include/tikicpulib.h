#pragma once
// Runs kernels as CPU debugging does: GmAlloc, ICPU_RUN_KF, GmFree. Facts: Ascend/samples (Apache-2.0),
// 6_ascendc_custom_op/kernel_invocation. See PROVENANCE.md.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <source_location>

#include "acl/acl.h"
#include "kernel_operator.h"
#include "softnpu_kernel/launcher.h"

namespace softnpu::kernel {

// Ends the program where CPU debugging cannot go on: its functions have no error to return.
[[noreturn]] inline void stop(const char* what, int code, const std::source_location& where) {
  const char* why = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s:%u: %s: error %d%s%s\n", where.file_name(), static_cast<unsigned>(where.line()), what, code,
               why == nullptr ? "" : ": ", why == nullptr ? "" : why);
  std::exit(1);
}

// Initialises ACL and device 0 where the program has not.
inline void use_device(const std::source_location& where) {
  int32_t device = 0;
  if (aclrtGetDevice(&device) == ACL_SUCCESS) return;
  const aclError code = aclInit(nullptr);
  if (code != ACL_SUCCESS && code != ACL_ERROR_REPEAT_INITIALIZE) stop("aclInit", code, where);
  if (const aclError set = aclrtSetDevice(0); set != ACL_SUCCESS) stop("aclrtSetDevice", set, where);
}

// Runs all blocks of a kernel and waits for them.
template <typename... P>
void run_and_wait(void (*kernel)(P...), const char* name, int64_t blocks, const std::source_location& where,
                  std::type_identity_t<P>... arguments) {
  use_device(where);
  launch_of(kernel, name, blocks, nullptr, nullptr, where)(arguments...);
  if (const aclError code = aclrtSynchronizeStream(nullptr); code != ACL_SUCCESS) stop(name, code, where);
}

}  // namespace softnpu::kernel

namespace AscendC {

// `bytes` bytes that the host and kernels read and write; zeroed. GmFree gives them back.
inline void* GmAlloc(std::size_t bytes, const std::source_location& where = std::source_location::current()) {
  softnpu::kernel::use_device(where);
  void* result = nullptr;
  if (const aclError code = aclrtMallocHost(&result, bytes); code != ACL_SUCCESS) {
    softnpu::kernel::stop("GmAlloc", code, where);
  }
  return std::memset(result, 0, bytes);
}

inline void GmFree(void* memory, const std::source_location& where = std::source_location::current()) {
  if (const aclError code = aclrtFreeHost(memory); code != ACL_SUCCESS) softnpu::kernel::stop("GmFree", code, where);
}

}  // namespace AscendC

#define ICPU_RUN_KF(func, blocks, ...) \
  ::softnpu::kernel::run_and_wait(func, #func, blocks, std::source_location::current() __VA_OPT__(, ) __VA_ARGS__)
