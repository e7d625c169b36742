// Bytes of blocks that something has written, for checked mode of kernels.

#include "softnpu/written_memory.h"

#include "ascendcl/api.h"
#include "runtime/memory/memory_blocks.h"

using softnpu::guarded;
using softnpu::MemoryBlocks;

void softnpuKernelWrote(const void* address, size_t bytes) {
  guarded([&] { MemoryBlocks::get().written(address, bytes); });
}

const void* softnpuFirstUnwritten(const void* address, size_t bytes, const void** writtenUntil) {
  return guarded(static_cast<const void*>(nullptr), [&]() -> const void* {
    if (writtenUntil == nullptr) return nullptr;
    const auto begin = reinterpret_cast<uint64_t>(address);
    const auto [until, first] = MemoryBlocks::get().find_unwritten(begin, begin + bytes);
    *writtenUntil = reinterpret_cast<const void*>(until);
    if (first == 0) return nullptr;
    softnpu::Device* device = softnpu::Process::get().device_of(address);
    if (device == nullptr || device->write_epochs().epoch(address, bytes) == softnpu::WriteEpochs::kUnknown)
      return nullptr;
    return reinterpret_cast<const void*>(first);
  });
}
