#pragma once
// Pinned host memory, which the device copies from and to while the program goes on. PyTorch's caching host allocator
// on aclrtMallocHost.

#include <ATen/core/CachingHostAllocator.h>

namespace torch_npu {

// The one instance; never destroyed. Making it initialises nothing.
at::HostAllocator& host_allocator();

// Whether `address` lies in memory that host_allocator() gave out.
bool is_pinned(const void* address);

}  // namespace torch_npu
