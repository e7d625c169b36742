#include <unistd.h>

#include <algorithm>
#include <string>

#include "acl/acl_rt.h"
#include "ascendcl/api.h"
#include "base/text.h"
#include "runtime/memory/address_lock.h"

using softnpu::api;
using softnpu::Context;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;

static_assert(ACL_IPC_HANDLE_SIZE == softnpu::kKeySize);

aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flag) {
  return api("aclrtIpcMemGetExportKey", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(devPtr, "devPtr"));
    SOFTNPU_RETURN_IF_ERROR(require(key, "key"));
    if (len < softnpu::kKeySize) {
      return {ACL_ERROR_RT_PARAM_INVALID, softnpu::text("a key needs ", softnpu::kKeySize, " bytes, not ", len)};
    }
    if (flag > ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
      return {ACL_ERROR_RT_PARAM_INVALID, softnpu::text("exporting memory with the flags ", flag)};
    }
    SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
    std::string result;
    const bool anybody = flag == ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION;
    SOFTNPU_RETURN_IF_ERROR(Process::get().sharing().export_range(Process::get(), devPtr, size, anybody, &result));
    std::fill_n(key, len, '\0');
    result.copy(key, result.size());
    return Status::ok();
  });
}

aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num) {
  return api("aclrtIpcMemSetImportPid", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(key, "key"));
    SOFTNPU_RETURN_IF_ERROR(require(pid, "pid"));
    if (num == 0) return {ACL_ERROR_RT_PARAM_INVALID, "no process is named"};
    SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
    return softnpu::Sharing::allow(Process::get(), key, pid, num);
  });
}

aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t) {
  return api("aclrtIpcMemImportByKey", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(devPtr, "devPtr"));
    SOFTNPU_RETURN_IF_ERROR(require(key, "key"));
    *devPtr = nullptr;
    Context* context = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().current(&context));
    return Process::get().sharing().import_key(*context->device, key, devPtr);
  });
}

aclError aclrtIpcMemClose(const char* key) {
  return api("aclrtIpcMemClose", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(key, "key"));
    if (Process::get().forked()) return Status::ok();  // the mapping belongs to the parent
    const softnpu::AddressChange change;
    return Process::get().sharing().close(key);
  });
}

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
  return api("aclrtDeviceGetBareTgid", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(pid, "pid"));
    *pid = static_cast<int32_t>(getpid());
    return Status::ok();
  });
}
