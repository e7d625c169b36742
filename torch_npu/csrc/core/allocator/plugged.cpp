#include "core/allocator/plugged.h"

#include <c10/util/Exception.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "core/allocator/mem_pool.h"
#include "core/device.h"
#include "core/memory_blocks.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

struct Allocation {
  std::size_t bytes;
  c10::Stream stream;
};

struct Plugged {
  std::mutex mutex;     // guards live
  RawAllocator source;  // set once
  std::unordered_map<void*, Allocation> live;
};

Plugged& state() {
  static auto& instance = *std::make_unique<Plugged>().release();  // used until the end of the process
  return instance;
}

std::atomic<bool> is_active{false};

}  // namespace

bool has_custom_allocator() noexcept { return is_active.load(std::memory_order_acquire); }

void set_current_allocator(const RawAllocator& source) {
  TORCH_CHECK(!is_initialized() && !has_custom_allocator(), "Can't swap an already initialized allocator");
  state().source = source;
  is_active.store(true, std::memory_order_release);
}

void* plugged::allocate(std::size_t bytes, c10::Stream stream) {
  const int device = stream.device_index();
  bind_device(stream.device_index());
  void* address = state().source.allocate(bytes, device, stream_handle(stream));
  TORCH_CHECK_WITH(OutOfMemoryError, address != nullptr,
                   "NPU out of memory. The allocator set by torch.npu.change_current_allocator returned null for ",
                   bytes, " bytes on npu:", device);
  if (tracks_blocks()) report_block(address, bytes, allocation_site());
  std::lock_guard lock(state().mutex);
  state().live.insert_or_assign(address, Allocation{bytes, stream});
  return address;
}

bool plugged::release(void* address) noexcept {
  try {
    std::unique_lock lock(state().mutex);
    auto it = state().live.find(address);
    if (it == state().live.end()) return false;
    const Allocation freed = it->second;
    state().live.erase(it);
    lock.unlock();
    if (tracks_blocks()) report_block_freed(address);
    const auto device = freed.stream.device_index();
    bind_device(device);
    state().source.release(address, freed.bytes, device, stream_handle(freed.stream));
  } catch (const std::exception& e) {
    TORCH_WARN("freeing npu memory failed: ", e.what());
  }
  return true;
}

bool plugged::is_live(void* address) {
  std::lock_guard lock(state().mutex);
  return state().live.contains(address);
}

}  // namespace torch_npu
