#pragma once
// Tells softnpu, where it checks kernels (SOFTNPU_KERNEL_CHECK), of the blocks that allocators hand out: an access
// behind a tensor's end is an error then. Both reports do nothing otherwise.

#include <cstddef>

namespace torch_npu {

// Whether softnpu wants to know; constant.
bool tracks_blocks() noexcept;

// A block for `nbytes` requested bytes was handed out. `site`: the line of the program, or null.
void report_block(const void* address, std::size_t nbytes, const char* site) noexcept;
// The block at `address` was taken back. Work that was enqueued before may still use it.
void report_block_freed(const void* address) noexcept;

// The line of the program that allocates, or null; stays until the thread's next call. May need Python's lock, so no
// other lock may be held, unless there is a NoAllocationSite.
const char* allocation_site() noexcept;
void set_allocation_site(const char* (*site)()) noexcept;

// While one lives, the thread's allocations have no site: for those under a lock.
class NoAllocationSite {
 public:
  NoAllocationSite() noexcept;
  ~NoAllocationSite();
  NoAllocationSite(const NoAllocationSite&) = delete;
  NoAllocationSite& operator=(const NoAllocationSite&) = delete;
};

}  // namespace torch_npu
