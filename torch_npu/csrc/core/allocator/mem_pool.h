#pragma once
// Private pools of the caching allocator (torch.npu.MemPool), and allocators of the program (NPUPluggableAllocator).

#include <acl/acl.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Stream.h>

#include <cstddef>
#include <functional>

#include "core/allocator/block.h"

namespace torch_npu {

// Functions of the program that allocate device memory: (bytes, device, stream), and return it.
struct RawAllocator {
  void* (*allocate)(std::size_t, int, aclrtStream) = nullptr;
  void (*release)(void*, std::size_t, int, aclrtStream) = nullptr;
};

struct MemPoolOptions {
  RawAllocator source;      // aclrtMalloc if it is empty
  bool use_on_oom = false;  // its free memory serves other allocations before they fail
  bool no_split = false;    // one block a segment
};

// One device's part of a pool. Its segments serve no other pool, and are returned once nobody uses the pool.
struct PrivatePool {
  PrivatePool(c10::MempoolId_t id, const MemPoolOptions& options) : id(id), options(options) {}

  const c10::MempoolId_t id;
  const MemPoolOptions options;
  int use_count = 0;
  int segments = 0;
  BlockPool small{c10::CachingAllocator::StatType::SMALL_POOL, this};
  BlockPool large{c10::CachingAllocator::StatType::LARGE_POOL, this};
};

c10::MempoolId_t new_pool_id() noexcept;
// Increases the pool's use count; makes it if `device` has none with this id.
void use_pool(c10::DeviceIndex device, c10::MempoolId_t id, const MemPoolOptions& options);
// Decreases it. At 0 the pool's free segments are returned, and the others once their blocks are free. From a function
// that a stream waits for, it returns without waiting, and a later allocation that needs memory returns the segments.
void release_pool(c10::DeviceIndex device, c10::MempoolId_t id);
// 0 if there is no such pool.
int pool_use_count(c10::DeviceIndex device, c10::MempoolId_t id);
// Allocations of this thread on `device` come from the pool until the matching end. The innermost pool counts.
void begin_allocate_to_pool(c10::DeviceIndex device, c10::MempoolId_t id);
void end_allocate_to_pool(c10::DeviceIndex device, c10::MempoolId_t id);
// Allocations of all threads on streams of `device` for which is_captured(stream) holds come from the pool, until the
// end. While there is such a pool the device's cache waits for nothing, and frees of blocks that several streams used
// are put off.
using IsCaptured = std::function<bool(c10::StreamId)>;
void begin_capture_to_pool(c10::DeviceIndex device, c10::MempoolId_t id, IsCaptured is_captured);
void end_capture_to_pool(c10::DeviceIndex device, c10::MempoolId_t id);
// Returns the pool's free segments.
void empty_pool(c10::DeviceIndex device, c10::MempoolId_t id);

// Takes back recordStream(): the block no longer waits for `stream`. Throws if `address` is not live.
void erase_stream(void* address, c10::Stream stream);

// All later allocations call `source`. Throws if the device is in use already.
void set_current_allocator(const RawAllocator& source);
bool has_custom_allocator() noexcept;

// Called after an allocation failed for lack of memory, without locks.
void set_out_of_memory_observer(void (*observer)(c10::DeviceIndex));

}  // namespace torch_npu
