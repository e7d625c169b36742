#include "runtime/memory/heap.h"

#include <algorithm>

#include "base/round.h"
#include "base/text.h"
#include "runtime/memory/poison.h"

namespace softnpu {
namespace {

constexpr size_t kSmallAlignment = 512;
constexpr size_t kLargeFrom = 4 * Region::kHugePage;
constexpr size_t kRedZone = kPoisons ? 256 : 0;

// The result of this thread's last find().
struct Found {
  uint64_t epoch = 0;  // of the blocks at that time
  size_t offset = 0;
  size_t span = 0;
  size_t requested = 0;
};
thread_local constinit Found found;

}  // namespace

// The red zone after a large block moves the next one to the following huge page: at most double the memory.
size_t Heap::region_size(size_t capacity) {
  return kPoisons ? 2 * round_up(capacity, Region::kHugePage) + Region::kHugePage : capacity;
}

Heap::Heap(Region* region, size_t capacity, std::atomic<uint64_t>* shown)
    : region_(region), capacity_(capacity), shown_(shown) {
  add_free(blocks_.insert(make_block(0, region_->size())).position);
  poison(region_->base() + region_->kernel_offset(), region_->size());
}

Heap::~Heap() { unpoison(region_->base() + region_->kernel_offset(), region_->size()); }

Status Heap::allocate(size_t size, void** out) {
  const size_t counted = round_up(size, kSmallAlignment);
  const size_t span = round_up(size + kRedZone, kSmallAlignment);
  const bool on_huge_page = size >= kLargeFrom || size % Region::kHugePage == 0;
  const size_t alignment = on_huge_page ? Region::kHugePage : kSmallAlignment;
  std::lock_guard lock(mutex_);
  if (size == 0 || counted < size || counted > capacity_ || used_ > capacity_ - counted) {
    return {ACL_ERROR_RT_MEMORY_ALLOCATION,
            text("out of device memory: asked for ", size, " bytes, ", capacity_ - used_, " of ", capacity_,
                 " bytes are free (SOFTNPU_HBM sets the capacity)")};
  }
  for (auto it = free_.lower_bound({span, 0}); it != free_.end(); ++it) {
    const auto [free_span, free_offset] = *it;
    const size_t offset = round_up(free_offset, alignment);
    const size_t head = offset - free_offset;
    if (head + span > free_span) continue;
    const size_t tail = free_span - head - span;
    // Everything that can fail is done first.
    Blocks::node_type behind = tail > 0 ? make_block(offset + span, tail) : Blocks::node_type();
    Blocks::node_type taken = head > 0 ? make_block(offset, span) : Blocks::node_type();
    forget_found();
    auto block = blocks_.find(free_offset);
    take_free(block);
    block->second.span = head > 0 ? head : span;
    if (head > 0) {
      add_free(block);
      block = blocks_.insert(std::move(taken)).position;
    }
    if (tail > 0) add_free(blocks_.insert(std::move(behind)).position);
    block->second.requested = size;
    block->second.id = ++last_id_;
    set_used(used_ + counted);
    peak_ = std::max(peak_, used_);
    region_->prepare(offset, span);
    unpoison(region_->base() + offset + region_->kernel_offset(), size);
    *out = region_->base() + offset;
    return Status::ok();
  }
  return {ACL_ERROR_RT_MEMORY_ALLOCATION, text("device memory is fragmented: asked for ", size, " bytes, ",
                                               capacity_ - used_, " bytes are free but not in one piece")};
}

Status Heap::release(void* address) {
  std::lock_guard lock(mutex_);
  auto it = region_->contains(address)
                ? blocks_.find(static_cast<size_t>(static_cast<char*>(address) - region_->base()))
                : blocks_.end();
  if (it == blocks_.end() || it->second.id == 0) {
    return {ACL_ERROR_RT_PARAM_INVALID, text("free: ", address, " is not the start of a live device allocation")};
  }
  end_life(it);
  return Status::ok();
}

Heap::Blocks::iterator Heap::end_life(Blocks::iterator block) {
  forget_found();
  poison(region_->base() + block->first + region_->kernel_offset(), block->second.requested);
  block->second.id = 0;
  return block->second.holds == 0 ? give_back(block) : block;
}

Heap::Blocks::iterator Heap::give_back(Blocks::iterator block) {
  set_used(used_ - round_up(block->second.requested, kSmallAlignment));
  block->second.requested = 0;
  if (auto next = std::next(block); next != blocks_.end() && is_free(next->second)) {
    take_free(next);
    block->second.span += next->second.span;
    blocks_.erase(next);
  }
  if (block != blocks_.begin() && is_free(std::prev(block)->second)) {
    auto previous = std::prev(block);
    take_free(previous);
    previous->second.span += block->second.span;
    blocks_.erase(block);
    block = previous;
  }
  add_free(block);
  return block;
}

uint64_t Heap::block_id(size_t offset) const {
  std::lock_guard lock(mutex_);
  const auto& [start, block] = *std::prev(blocks_.upper_bound(offset));
  return offset - start < block.requested ? block.id : 0;
}

bool Heap::hold(size_t offset, uint64_t id) {
  std::lock_guard lock(mutex_);
  Block& block = containing(offset)->second;
  if (id == 0 || block.id != id) return false;
  ++block.holds;
  return true;
}

void Heap::unhold(size_t offset) {
  std::lock_guard lock(mutex_);
  auto block = containing(offset);
  if (--block->second.holds == 0 && block->second.id == 0) give_back(block);
}

bool Heap::find(const void* address, Allocation* out) const {
  if (!region_->contains(address)) return false;
  auto at = static_cast<size_t>(static_cast<const char*>(address) - region_->base());
  if (found.epoch != epoch_.load(std::memory_order_acquire) || at - found.offset >= found.span) {
    std::lock_guard lock(mutex_);
    auto it = std::prev(blocks_.upper_bound(at));
    if (it->second.id == 0 || at >= it->first + it->second.span) return false;
    found = {epoch_.load(std::memory_order_relaxed), it->first, it->second.span, it->second.requested};
  }
  *out = {region_->base() + found.offset, found.requested};
  return true;
}

uint64_t Heap::next_epoch() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
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
  forget_found();
  for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
    if (block->second.id != 0) block = end_life(block);
  }
}

Heap::Blocks::node_type Heap::make_block(size_t offset, size_t span) {
  FreeSpans location = {{span, offset}};
  Blocks block;
  block[offset] = {span, 0, 0, 0, location.extract(location.begin())};
  return block.extract(block.begin());
}

void Heap::add_free(Blocks::iterator block) {
  block->second.as_free.value() = {block->second.span, block->first};
  free_.insert(std::move(block->second.as_free));
}

void Heap::take_free(Blocks::iterator block) {
  block->second.as_free = free_.extract({block->second.span, block->first});
}

}  // namespace softnpu
