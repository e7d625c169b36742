#pragma once
// PYTORCH_NPU_ALLOC_CONF, which PyTorch's own parser reads (c10::CachingAllocator::AcceleratorAllocatorConfig); this
// file adds npu's keys. NPU_MEMORY_OPTIMIZATION=1 replaces its defaults.

#include <cstddef>
#include <string>

namespace torch_npu {

// Reads the environment once. Throws ValueError if a variable is malformed, or if both PYTORCH_NPU_ALLOC_CONF and
// PYTORCH_ALLOC_CONF are set.
void read_allocator_settings();

// Replaces settings for later allocations. Throws ValueError if `text` is malformed.
void set_allocator_settings(const std::string& text);

// The unit in which an expandable segment grows, in bytes: segment_size_mb, else one small or large segment.
std::size_t expandable_unit(bool large);

// NPU_MEMORY_OPTIMIZATION=1: memory is worth waiting for. The cache reclaims free memory before it grows, and streams
// keep no workspace.
bool saves_memory();

// PYTORCH_NO_NPU_MEMORY_CACHING: every tensor is a separate allocation, for debugging.
bool caching_is_off();

}  // namespace torch_npu
