#include "runtime/memory/virtual_memory.h"

#include <iterator>

#include "base/round.h"
#include "base/text.h"

namespace softnpu {
namespace {

bool is_granular(size_t value) { return value % VirtualMemory::kGranularity == 0; }

Status invalid(std::string sentence) { return {ACL_ERROR_RT_PARAM_INVALID, std::move(sentence)}; }

}  // namespace

Status VirtualMemory::reserve(size_t size, void** out) {
  if (size == 0) return invalid("a reservation of 0 bytes");
  std::lock_guard lock(mutex_);
  char* address = nullptr;
  SOFTNPU_RETURN_IF_ERROR(reserve_locked(size, &address));
  *out = address;
  return Status::ok();
}

// First fit: reservations are few and large. One granule stays unmapped after each, so that an overrun does not reach
// the next.
Status VirtualMemory::reserve_locked(size_t size, char** out) {
  const size_t window = region_->range() - region_->size();
  if (size > window) return invalid(text("a reservation of ", size, " bytes: the window has ", window));
  size = round_up(size, kGranularity);
  char* at = region_->window();
  for (const auto& [address, taken] : reservations_) {
    if (static_cast<size_t>(address - at) >= size + kGranularity) break;
    at = address + taken + kGranularity;
  }
  if (at + size > region_->base() + region_->range()) {
    return {ACL_ERROR_RT_MEMORY_ALLOCATION, text("no addresses are left for a reservation of ", size, " bytes")};
  }
  reservations_[at] = size;
  *out = at;
  return Status::ok();
}

Status VirtualMemory::release(void* address) {
  std::lock_guard lock(mutex_);
  auto it = reservations_.find(static_cast<char*>(address));
  if (it == reservations_.end()) return invalid(text(address, " is not the start of a reservation"));
  auto mapped = mappings_.lower_bound(it->first);
  if (mapped != mappings_.end() && mapped->first < it->first + it->second) {
    return invalid(text("the reservation ", address, " still holds a mapping at ", static_cast<void*>(mapped->first)));
  }
  reservations_.erase(it);
  return Status::ok();
}

Status VirtualMemory::allocate_physical(size_t size, void** handle) {
  if (size == 0 || !is_granular(size)) {
    return invalid(text("physical memory of ", size, " bytes: sizes are multiples of ", kGranularity));
  }
  auto owned = std::make_unique<Physical>();
  Physical* physical = owned.get();
  std::lock_guard lock(mutex_);
  auto entry = physical_.emplace(physical, std::move(owned)).first;
  void* address = nullptr;
  if (Status status = heap_->allocate(size, &address); !status.is_ok()) {
    physical_.erase(entry);
    return status;
  }
  physical->offset = static_cast<size_t>(static_cast<char*>(address) - region_->base());
  physical->size = size;
  *handle = physical;
  return Status::ok();
}

bool VirtualMemory::owns(const void* handle) const {
  std::lock_guard lock(mutex_);
  auto it = physical_.find(const_cast<void*>(handle));
  return it != physical_.end() && !it->second->freed;
}

Status VirtualMemory::locate_physical(const void* handle, uint64_t* offset, uint64_t* size) const {
  std::lock_guard lock(mutex_);
  auto it = physical_.find(const_cast<void*>(handle));
  if (it == physical_.end() || it->second->freed) return invalid(text("physical memory ", handle, " does not exist"));
  if (it->second->is_imported()) return invalid(text("physical memory ", handle, " is another process's"));
  *offset = it->second->offset;
  *size = it->second->size;
  return Status::ok();
}

Status VirtualMemory::adopt(ImportedRange range, void** handle) {
  auto physical = std::make_unique<Physical>();
  physical->offset = range.offset;
  physical->size = range.size;
  physical->imported = std::move(range);
  std::lock_guard lock(mutex_);
  *handle = physical.get();
  physical_.emplace(*handle, std::move(physical));
  return Status::ok();
}

Status VirtualMemory::free_physical(void* handle) {
  std::lock_guard lock(mutex_);
  auto it = physical_.find(handle);
  if (it == physical_.end() || it->second->freed) return invalid(text("physical memory ", handle, " does not exist"));
  it->second->freed = true;
  drop_if_unused(it->second.get());
  return Status::ok();
}

void VirtualMemory::drop_if_unused(Physical* physical) {
  if (!physical->freed || physical->mappings > 0) return;
  if (!physical->is_imported()) (void)heap_->release(region_->base() + physical->offset);
  physical_.erase(physical);
}

Status VirtualMemory::map(void* address, size_t size, size_t offset, void* handle) {
  auto* at = static_cast<char*>(address);
  std::lock_guard lock(mutex_);
  auto found = physical_.find(handle);
  if (found == physical_.end() || found->second->freed) {
    return invalid(text("physical memory ", handle, " does not exist"));
  }
  Physical& physical = *found->second;
  if (size == 0 || !is_granular(size) || !is_granular(offset) || offset > physical.size ||
      size > physical.size - offset) {
    return invalid(text("mapping ", size, " bytes from byte ", offset, " of physical memory of ", physical.size,
                        " bytes: both are multiples of ", kGranularity, " within it"));
  }
  auto reservation = reservations_.upper_bound(at);
  if (reservation == reservations_.begin() || !is_granular(static_cast<size_t>(at - region_->base())) ||
      at + size > std::prev(reservation)->first + std::prev(reservation)->second) {
    return invalid(text("mapping ", size, " bytes at ", address, ": it is not within one reservation"));
  }
  auto next = mappings_.lower_bound(at);
  if ((next != mappings_.end() && next->first < at + size) ||
      (next != mappings_.begin() && std::prev(next)->first + std::prev(next)->second.size > at)) {
    return invalid(text("mapping ", size, " bytes at ", address, ": something is mapped there"));
  }
  const int fd = physical.is_imported() ? physical.imported.file.fd() : region_->fd();
  auto entry = mappings_.emplace(at, Mapping{size, physical.offset + offset, handle}).first;
  if (Status status = region_->map_window(at, size, fd, physical.offset + offset); !status.is_ok()) {
    mappings_.erase(entry);
    return status;
  }
  ++physical.mappings;
  return Status::ok();
}

Status VirtualMemory::unmap(void* address, size_t* size) {
  std::lock_guard lock(mutex_);
  auto it = mappings_.find(static_cast<char*>(address));
  if (it == mappings_.end() || it->second.handle == nullptr) {
    return invalid(text("unmap: ", address, " is not the start of a mapping"));
  }
  SOFTNPU_RETURN_IF_ERROR(region_->unmap_window(it->first, it->second.size));
  Physical* physical = physical_.at(it->second.handle).get();
  *size = it->second.size;
  mappings_.erase(it);
  --physical->mappings;
  drop_if_unused(physical);
  return Status::ok();
}

Status VirtualMemory::import(int fd, size_t offset, size_t size, void** out) {
  std::lock_guard lock(mutex_);
  char* address = nullptr;
  SOFTNPU_RETURN_IF_ERROR(reserve_locked(size, &address));
  auto entry = mappings_.end();
  Status status;
  try {
    entry = mappings_.emplace(address, Mapping{size, 0, nullptr}).first;
    status = region_->map_window(address, size, fd, offset);
  } catch (...) {
    if (entry != mappings_.end()) mappings_.erase(entry);
    reservations_.erase(address);
    throw;
  }
  if (!status.is_ok()) {
    mappings_.erase(entry);
    reservations_.erase(address);
    return status;
  }
  *out = address;
  return Status::ok();
}

Status VirtualMemory::forget(void* address) {
  std::lock_guard lock(mutex_);
  auto it = mappings_.find(static_cast<char*>(address));
  if (it == mappings_.end() || it->second.handle != nullptr) {
    return invalid(text(address, " is not the start of another process's memory"));
  }
  SOFTNPU_RETURN_IF_ERROR(region_->unmap_window(it->first, round_up(it->second.size, kGranularity)));
  reservations_.erase(it->first);
  mappings_.erase(it);
  return Status::ok();
}

VirtualMemory::Mappings::const_iterator VirtualMemory::holding(const char* address) const {
  auto it = mappings_.upper_bound(const_cast<char*>(address));
  if (it == mappings_.begin()) return mappings_.end();
  --it;
  return address < it->first + it->second.size ? it : mappings_.end();
}

bool VirtualMemory::find(const void* address, Allocation* out) const {
  std::lock_guard lock(mutex_);
  auto it = holding(static_cast<const char*>(address));
  if (it == mappings_.end()) return false;
  auto first = it;
  while (first != mappings_.begin() && std::prev(first)->first + std::prev(first)->second.size == first->first) --first;
  char* end = it->first + it->second.size;
  for (auto next = std::next(it); next != mappings_.end() && next->first == end; ++next) end += next->second.size;
  *out = {first->first, static_cast<size_t>(end - first->first)};
  return true;
}

bool VirtualMemory::locate(const void* address, size_t size, size_t* offset) const {
  const auto* at = static_cast<const char*>(address);
  std::lock_guard lock(mutex_);
  auto it = holding(at);
  if (it == mappings_.end() || it->second.handle == nullptr) return false;
  if (physical_.at(it->second.handle)->is_imported()) return false;
  const auto into = static_cast<size_t>(at - it->first);
  if (size > it->second.size - into) return false;
  *offset = it->second.offset + into;
  return true;
}

void VirtualMemory::share(const void* handle) {
  std::lock_guard lock(mutex_);
  if (auto it = physical_.find(const_cast<void*>(handle)); it != physical_.end()) it->second->shared = true;
}

void VirtualMemory::share(const void* address, size_t size) {
  std::lock_guard lock(mutex_);
  const auto* end = static_cast<const char*>(address) + size;
  for (auto it = holding(static_cast<const char*>(address)); it != mappings_.end() && it->first < end; ++it) {
    if (it->second.handle != nullptr) physical_.at(it->second.handle)->shared = true;
  }
}

bool VirtualMemory::is_private(const void* address, size_t size) const {
  std::lock_guard lock(mutex_);
  const auto* at = static_cast<const char*>(address);
  const char* end = at + size;
  for (auto it = holding(at); it != mappings_.end() && it->first <= at; ++it) {
    if (it->second.handle == nullptr) return false;
    const Physical& physical = *physical_.at(it->second.handle);
    if (physical.shared || physical.mappings != 1 || physical.is_imported()) return false;
    at = it->first + it->second.size;
    if (at >= end) return true;
  }
  return false;
}

void VirtualMemory::clear() {
  std::lock_guard lock(mutex_);
  for (const auto& [address, mapping] : mappings_) (void)region_->unmap_window(address, mapping.size);
  mappings_.clear();
  reservations_.clear();
  physical_.clear();  // the heap is cleared by its owner
}

}  // namespace softnpu
