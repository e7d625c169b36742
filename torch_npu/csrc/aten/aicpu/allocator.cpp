#include "aten/aicpu/allocator.h"

#include <c10/core/CPUAllocator.h>

#include <cstring>
#include <memory>

#include "aten/aicpu/expanded.h"
#include "core/allocator/caching_allocator.h"
#include "core/device.h"
#include "core/memory_events.h"
#include "core/stream.h"

namespace torch_npu::aicpu {
namespace {

thread_local c10::DeviceIndex scope_device = -1;

c10::Allocator* host_allocator() {
  static c10::Allocator* allocator = c10::GetDefaultCPUAllocator();
  return allocator;
}

// One deleter for both kinds of memory: raw_deallocate() has only the address.
void release(void* address) {
  if (address == nullptr) return;
  c10::DeviceIndex device = device_of_kernel_address(address);
  if (device < 0) {
    host_allocator()->raw_deleter()(address);
  } else {
    CachingAllocator::release(static_cast<char*>(address) - kernel_offset(device));
  }
}

struct Allocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t nbytes) override {
    if (C10_LIKELY(scope_device < 0)) return host_allocator()->allocate(nbytes);
    auto* address = static_cast<char*>(caching_allocator().allocate_raw(scope_device, nbytes));
    if (address != nullptr) address += kernel_offset(scope_device);
    c10::DataPtr data(address, address, &release, c10::Device(c10::DeviceType::CPU));
    // Since the kernel began, another thread may have launched work on this stream and then freed the block.
    wait_for_current_stream(scope_device);
    if (address != nullptr) bump_write_epoch(address - kernel_offset(scope_device), nbytes);
    return data;
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* dest, const void* src, std::size_t count) const override { std::memcpy(dest, src, count); }
};

// Installed when the library is loaded; its higher priority permanently replaces the built-in allocator.
[[maybe_unused]] const bool installed = [] {
  static auto& allocator = *std::make_unique<Allocator>().release();
  c10::SetCPUAllocator(&allocator, /*priority=*/1);
  return true;
}();

}  // namespace

KernelScope::KernelScope(c10::DeviceIndex device) : previous_(scope_device) { scope_device = device; }
KernelScope::~KernelScope() {
  scope_device = previous_;
  TemporariesScope::release_temporaries();
}

bool take_over(c10::DataPtr& cpu, c10::DeviceIndex device, c10::DataPtr* npu) {
  if (cpu.get_deleter() != &release || cpu.get() != cpu.get_context()) return false;
  if (device_of_kernel_address(cpu.get()) != device) return false;
  void* kernel = cpu.release_context();
  void* address = static_cast<char*>(kernel) - kernel_offset(device);
  cpu = c10::DataPtr(kernel, c10::Device(c10::DeviceType::CPU));
  *npu = c10::DataPtr(address, address, &CachingAllocator::release, c10::Device(c10::DeviceType::PrivateUse1, device));
  return true;
}

}  // namespace torch_npu::aicpu
