#include "runtime/region.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // Linux 6.1; older kernels answer EINVAL, which is harmless here
#endif

namespace softnpu {
namespace {

constexpr size_t kLargestPrepared = size_t{1} << 30;

// The reservation is one huge page larger than asked for, so that the range can start on one.
char* map_aligned(size_t size, int fd, int protection) {
  void* raw = mmap(nullptr, size + Region::kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto start = reinterpret_cast<uintptr_t>(raw);
  uintptr_t aligned = (start + Region::kHugePage - 1) / Region::kHugePage * Region::kHugePage;
  void* mapped =
      mmap(reinterpret_cast<void*>(aligned), size, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0);
  if (mapped == MAP_FAILED) {
    munmap(raw, size + Region::kHugePage);
    return nullptr;
  }
  return static_cast<char*>(mapped);
}

Status system_error(const char* call) {
  return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, text(call, " for device memory failed: ", std::strerror(errno))};
}

}  // namespace

Region::~Region() {
  if (kernel_base_ != nullptr && kernel_base_ != base_) munmap(kernel_base_, size_);
  if (base_ != nullptr) munmap(base_, size_);
  if (fd_ >= 0) close(fd_);
}

Status Region::map(size_t size, bool protect) {
  size_ = (size + kHugePage - 1) / kHugePage * kHugePage;
  fd_ = memfd_create("softnpu", MFD_CLOEXEC);
  if (fd_ < 0) return system_error("memfd_create");
  if (ftruncate(fd_, static_cast<off_t>(size_)) != 0) return system_error("ftruncate");
  base_ = map_aligned(size_, fd_, protect ? PROT_NONE : PROT_READ | PROT_WRITE);
  if (base_ == nullptr) return system_error("mmap");
  kernel_base_ = protect ? map_aligned(size_, fd_, PROT_READ | PROT_WRITE) : base_;
  if (kernel_base_ == nullptr) return system_error("mmap");
  return Status::ok();
}

void Region::prepare(size_t offset, size_t size) {
  size_t begin = std::max(prepared_, offset / kHugePage * kHugePage);
  size_t end = std::min(size_, (offset + size + kHugePage - 1) / kHugePage * kHugePage);
  if (begin >= end) return;
  prepared_ = end;
  // Backing means committing: what is larger than this is left to be faulted in as far as it is really used.
  if (end - begin > kLargestPrepared) return;
  // A memfd page exists only once touched, and only then can it be collapsed into a huge one.
  for (size_t at = begin; at < end; at += kHugePage) kernel_base_[at] = 0;
  madvise(kernel_base_ + begin, end - begin, MADV_COLLAPSE);
}

}  // namespace softnpu
