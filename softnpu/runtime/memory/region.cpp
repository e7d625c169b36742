#include "runtime/memory/region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/round.h"
#include "base/text.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25  // Linux 6.1; older kernels answer EINVAL, which is harmless here
#endif

namespace softnpu {
namespace {

constexpr size_t kLargestPrepared = size_t{1} << 30;

int protection_of(bool readable) { return readable ? PROT_READ | PROT_WRITE : PROT_NONE; }

bool map_file(char* address, size_t size, int fd, size_t offset, bool readable) {
  return mmap(address, size, protection_of(readable), MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd,
              static_cast<off_t>(offset)) != MAP_FAILED;
}

bool reserve(char* address, size_t size) {
  return mmap(address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

// Maps a range that is aligned to huge pages, with the file at its start.
char* map_range(size_t size, size_t window, int fd, bool readable) {
  size_t range = size + window + Region::kHugePage;
  void* raw = mmap(nullptr, range, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  auto start = reinterpret_cast<uintptr_t>(raw);
  auto* aligned = reinterpret_cast<char*>((start + Region::kHugePage - 1) / Region::kHugePage * Region::kHugePage);
  if (!map_file(aligned, size, fd, 0, readable)) {
    munmap(raw, range);
    return nullptr;
  }
  // Unmaps the alignment slack at both ends: the destructor unmaps exactly the rest.
  const auto head = static_cast<size_t>(aligned - static_cast<char*>(raw));
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t kept = round_up(size + window, page);
  if (head > 0) munmap(raw, head);
  if (range - head > kept) munmap(aligned + kept, range - head - kept);
  return aligned;
}

Status system_error(const char* call) {
  return {ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, text(call, " for device memory failed: ", std::strerror(errno))};
}

}  // namespace

Region::~Region() { clear(); }

void Region::clear() {
  if (kernel_base_ != nullptr && kernel_base_ != base_) munmap(kernel_base_, range());
  if (base_ != nullptr) munmap(base_, range());
  if (fd_ >= 0) close(fd_);
  base_ = kernel_base_ = nullptr;
  fd_ = -1;
}

Status Region::map(size_t size, size_t window, bool protect) {
  clear();
  protect_ = protect;
  size_ = round_up(size, kHugePage);
  window_ = window;
  fd_ = memfd_create("softnpu", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd_ < 0) return system_error("memfd_create");
  if (ftruncate(fd_, static_cast<off_t>(size_)) != 0) return system_error("ftruncate");
  // Processes that map it rely on its size.
  if (fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return system_error("F_ADD_SEALS");
  base_ = map_range(size_, window_, fd_, !protect);
  if (base_ == nullptr) return system_error("mmap");
  kernel_base_ = protect ? map_range(size_, window_, fd_, true) : base_;
  if (kernel_base_ == nullptr) return system_error("mmap");
  return Status::ok();
}

Status Region::map_window(char* address, size_t size, int fd, size_t offset) {
  if (!map_file(address, size, fd, offset, !protect_)) {
    Status error = system_error("mmap");
    (void)reserve(address, size);  // a failed mmap may have unmapped the range: reserve it again
    return error;
  }
  if (protect_ && !map_file(address + kernel_offset(), size, fd, offset, true)) {
    Status error = system_error("mmap");
    (void)reserve(address, size);
    return error;
  }
  return Status::ok();
}

Status Region::unmap_window(char* address, size_t size) {
  bool done = reserve(address, size);
  if (protect_) done = reserve(address + kernel_offset(), size) && done;
  return done ? Status::ok() : system_error("mmap");
}

// Touches pages whether or not their bytes are allocated.
__attribute__((no_sanitize("address"))) void Region::prepare(size_t offset, size_t size) {
  size_t begin = std::max(prepared_, offset / kHugePage * kHugePage);
  size_t end = std::min(size_, round_up(offset + size, kHugePage));
  if (begin >= end) return;
  prepared_ = end;
  // Touching commits memory: larger blocks are faulted in on use.
  if (end - begin > kLargestPrepared) return;
  // A memfd page exists only after it was touched, and only then can it be collapsed into a huge page.
  for (size_t at = begin; at < end; at += kHugePage) kernel_base_[at] = 0;
  madvise(kernel_base_ + begin, end - begin, MADV_COLLAPSE);
}

}  // namespace softnpu
