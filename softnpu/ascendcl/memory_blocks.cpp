// Blocks of allocators: what they tell, and what checked mode of kernels asks.

#include "softnpu/memory_blocks.h"

#include <algorithm>
#include <memory>

#include "ascendcl/api.h"
#include "runtime/memory/memory_blocks.h"
#include "softnpu/written_memory.h"

using softnpu::guarded;
using softnpu::MemoryBlock;
using softnpu::MemoryBlocks;

struct softnpuBlocks {
  std::shared_ptr<const MemoryBlocks::List> list;
};

int32_t softnpuTracksBlocks(void) {
  return guarded(int32_t{0}, [] { return MemoryBlocks::get().is_on() ? 1 : 0; });
}

void softnpuBlockAllocated(const void* address, size_t bytes, const char* label) {
  guarded([&] { MemoryBlocks::get().allocated(address, bytes, label); });
}

void softnpuBlockFreed(const void* address) {
  guarded([&] { MemoryBlocks::get().freed(address); });
}

softnpuBlocks* softnpuTakeBlocks(void) {
  return guarded(static_cast<softnpuBlocks*>(nullptr), [] {
    auto list = MemoryBlocks::get().snapshot();
    return list == nullptr ? nullptr : std::make_unique<softnpuBlocks>(softnpuBlocks{std::move(list)}).release();
  });
}

void softnpuReleaseBlocks(softnpuBlocks* blocks) {
  guarded([&] { const std::unique_ptr<softnpuBlocks> released(blocks); });
}

int32_t softnpuFindBlock(const softnpuBlocks* blocks, const void* address, softnpuBlock* before, softnpuBlock* behind) {
  return guarded(int32_t{0}, [&] {
    if (blocks == nullptr || before == nullptr || behind == nullptr) return 0;
    *before = *behind = softnpuBlock{};
    softnpu::Device* device = softnpu::Process::get().device_of(address);
    softnpu::Allocation allocation;
    if (device == nullptr || !device->find(address, &allocation)) return 0;
    const auto begin = reinterpret_cast<uint64_t>(allocation.base);
    const auto give = [](const MemoryBlock& block, softnpuBlock* out) {
      *out = {reinterpret_cast<const void*>(block.begin), block.bytes, block.label, block.is_live ? 1 : 0};
    };
    const MemoryBlocks::List& list = *blocks->list;
    const auto next = std::partition_point(list.begin(), list.end(), [&](const MemoryBlock& block) {
      return block.begin <= reinterpret_cast<uint64_t>(address);
    });
    if (next != list.end() && next->begin < begin + allocation.size) give(*next, behind);
    if (next != list.begin() && std::prev(next)->begin >= begin) give(*std::prev(next), before);
    return before->address != nullptr || behind->address != nullptr ? 1 : 0;
  });
}

void softnpuKernelWrote(const void* address, size_t bytes) {
  guarded([&] { MemoryBlocks::get().written(address, bytes); });
}

const void* softnpuFirstUnwritten(const softnpuBlocks* blocks, const void* address, size_t bytes,
                                  const void** writtenUntil) {
  return guarded(static_cast<const void*>(nullptr), [&]() -> const void* {
    if (writtenUntil == nullptr) return nullptr;
    const auto begin = reinterpret_cast<uint64_t>(address);
    *writtenUntil = reinterpret_cast<const void*>(begin + bytes);
    softnpu::Device* device = softnpu::Process::get().device_of(address);
    if (blocks == nullptr || device == nullptr) return nullptr;
    if (device->write_epochs().epoch(address, bytes) == softnpu::WriteEpochs::kUnknown) return nullptr;
    const auto [until, first] = MemoryBlocks::get().find_unwritten(*blocks->list, begin, begin + bytes);
    *writtenUntil = reinterpret_cast<const void*>(until);
    return reinterpret_cast<const void*>(first);
  });
}
