#include "ccl/own_files.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "ccl/acl_status.h"

namespace softnpu::ccl {

Status memory_of(int32_t device, softnpuMemoryFile* out) {
  return from_acl([&] { return softnpuGetMemoryFile(device, out); });
}

Status own_files(const softnpuMemoryFile& memory, OwnFiles* out) {
  out->memory = File(::open(text("/proc/self/fd/", memory.file).c_str(), O_RDONLY | O_CLOEXEC));
  if (out->memory.fd() < 0) {
    return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, text("opening device memory through /proc: ", std::strerror(errno))};
  }
  out->process = File(static_cast<int>(::syscall(SYS_pidfd_open, getpid(), 0)));
  if (out->process.fd() < 0) {
    return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, text("pidfd_open, which Linux has since 5.3: ", std::strerror(errno),
                                                   ": other ranks could not see this one end")};
  }
  return Status::ok();
}

}  // namespace softnpu::ccl
