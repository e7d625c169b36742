#include "core/memory_blocks.h"

#include <atomic>
#include <cstdint>

#include "core/acl.h"

namespace torch_npu {
namespace {

std::atomic<const char* (*)()> site_of_caller{nullptr};
thread_local int without_site = 0;

}  // namespace

bool tracks_blocks() noexcept {
  static const bool value = [] {
    const auto tracks = reinterpret_cast<std::int32_t (*)()>(bound_symbol("softnpuTracksBlocks"));
    return tracks != nullptr && tracks() != 0;
  }();
  return value;
}

void report_block(const void* address, std::size_t nbytes, const char* site) noexcept {
  using Report = void (*)(const void*, std::size_t, const char*);
  static const auto report = reinterpret_cast<Report>(bound_symbol("softnpuBlockAllocated"));
  if (report != nullptr) report(address, nbytes, site);
}

void report_block_freed(const void* address) noexcept {
  static const auto report = reinterpret_cast<void (*)(const void*)>(bound_symbol("softnpuBlockFreed"));
  if (report != nullptr) report(address);
}

const char* allocation_site() noexcept {
  const auto site = site_of_caller.load(std::memory_order_relaxed);
  return site == nullptr || without_site != 0 ? nullptr : site();
}

void set_allocation_site(const char* (*site)()) noexcept { site_of_caller = site; }

NoAllocationSite::NoAllocationSite() noexcept { ++without_site; }
NoAllocationSite::~NoAllocationSite() { --without_site; }

}  // namespace torch_npu
