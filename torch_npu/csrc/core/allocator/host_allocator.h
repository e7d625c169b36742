#pragma once
// Pinned host memory, which the device copies asynchronously. PyTorch's caching host allocator on top of
// aclrtMallocHost.

#include <ATen/core/CachingHostAllocator.h>

namespace torch_npu {

// The one instance; never destroyed. Its construction initialises nothing.
at::HostAllocator& host_allocator();

// Whether `address` is in memory from host_allocator().
bool is_pinned(const void* address);

}  // namespace torch_npu
