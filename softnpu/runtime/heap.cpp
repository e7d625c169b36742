#include "runtime/heap.h"

#include <iterator>

#include "base/round.h"
#include "base/text.h"

namespace softnpu {
namespace {

constexpr size_t kSmallAlignment = 512;
constexpr size_t kLargeFrom = size_t{1} << 20;

}  // namespace

Heap::Heap(Region* region, size_t capacity) : region_(region), capacity_(capacity) { insert_free(0, region_->size()); }

Status Heap::allocate(size_t size, void** out) {
  size_t span = round_up(size, kSmallAlignment);
  size_t alignment = size >= kLargeFrom ? Region::kHugePage : kSmallAlignment;
  std::lock_guard lock(mutex_);
  if (span < size || span > capacity_ || used_ > capacity_ - span) {
    return {ACL_ERROR_RT_MEMORY_ALLOCATION,
            text("out of device memory: asked for ", size, " bytes, ", capacity_ - used_, " of ", capacity_,
                 " bytes are free (SOFTNPU_HBM sets the capacity)")};
  }
  for (auto it = free_by_span_.lower_bound({span, 0}); it != free_by_span_.end(); ++it) {
    auto [free_span, free_offset] = *it;
    size_t offset = round_up(free_offset, alignment);
    size_t head = offset - free_offset;
    if (head + span > free_span) continue;
    erase_free(free_offset, free_span);
    if (head > 0) insert_free(free_offset, head);
    if (head + span < free_span) insert_free(offset + span, free_span - head - span);
    live_[offset] = {span, size};
    used_ += span;
    peak_ = std::max(peak_, used_);
    region_->prepare(offset, span);
    *out = region_->base() + offset;
    return Status::ok();
  }
  return {ACL_ERROR_RT_MEMORY_ALLOCATION, text("device memory is fragmented: asked for ", size, " bytes, ",
                                               capacity_ - used_, " bytes are free but not in one piece")};
}

Status Heap::release(void* address) {
  std::lock_guard lock(mutex_);
  auto it = region_->contains(address) ? live_.find(static_cast<size_t>(static_cast<char*>(address) - region_->base()))
                                       : live_.end();
  if (it == live_.end()) {
    return {ACL_ERROR_RT_PARAM_INVALID, text("free: ", address, " is not the start of a live device allocation")};
  }
  auto [offset, block] = *it;
  live_.erase(it);
  used_ -= block.span;
  size_t begin = offset;
  size_t end = offset + block.span;
  if (auto next = free_by_offset_.find(end); next != free_by_offset_.end()) {
    end += next->second;
    erase_free(next->first, next->second);
  }
  if (auto next = free_by_offset_.lower_bound(begin); next != free_by_offset_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == begin) {
      begin = previous->first;
      erase_free(previous->first, previous->second);
    }
  }
  insert_free(begin, end - begin);
  return Status::ok();
}

bool Heap::find(const void* address, Allocation* out) const {
  if (!region_->contains(address)) return false;
  auto at = static_cast<size_t>(static_cast<const char*>(address) - region_->base());
  std::lock_guard lock(mutex_);
  auto it = live_.upper_bound(at);
  if (it == live_.begin()) return false;
  --it;
  if (at >= it->first + it->second.span) return false;
  *out = {region_->base() + it->first, it->second.requested};
  return true;
}

size_t Heap::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

size_t Heap::peak() const {
  std::lock_guard lock(mutex_);
  return peak_;
}

void Heap::clear() {
  std::lock_guard lock(mutex_);
  live_.clear();
  free_by_offset_.clear();
  free_by_span_.clear();
  used_ = 0;
  insert_free(0, region_->size());
}

void Heap::insert_free(size_t offset, size_t span) {
  free_by_offset_[offset] = span;
  free_by_span_.insert({span, offset});
}

// By value: the arguments may live in the map entry that goes away here.
void Heap::erase_free(size_t offset, size_t span) {
  free_by_offset_.erase(offset);
  free_by_span_.erase({span, offset});
}

}  // namespace softnpu
