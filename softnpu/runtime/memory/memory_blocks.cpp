#include "runtime/memory/memory_blocks.h"

#include <algorithm>

#include "base/no_destroy.h"
#include "softnpu/environment.h"

namespace softnpu {
namespace {

bool checks_kernels() { return environment::text("SOFTNPU_KERNEL_CHECK") != "0"; }

// The first block that ends behind `address`.
MemoryBlocks::List::iterator first_behind(MemoryBlocks::List* list, uint64_t address) {
  return std::partition_point(list->begin(), list->end(),
                              [address](const MemoryBlock& block) { return block.end() <= address; });
}

// The live block that has the byte; null where none has.
const MemoryBlock* live_block(const MemoryBlocks::List& list, uint64_t address) {
  const auto found = std::partition_point(list.begin(), list.end(),
                                          [address](const MemoryBlock& block) { return block.end() <= address; });
  return found == list.end() || found->begin > address || !found->is_live ? nullptr : &*found;
}

}  // namespace

MemoryBlocks& MemoryBlocks::get() {
  static NoDestroy<MemoryBlocks> blocks;
  return blocks.get();
}

MemoryBlocks::MemoryBlocks() : is_on_(checks_kernels()) {}

void MemoryBlocks::allocated(const void* address, size_t bytes, const char* label) noexcept {
  if (!is_on_ || address == nullptr || bytes == 0) return;
  const auto begin = reinterpret_cast<uint64_t>(address);
  if (begin + bytes < begin) return;
  std::lock_guard lock(mutex_);
  if (is_lost_) return;
  try {
    List& list = changeable();
    MemoryBlock block{begin, bytes, nullptr, true, ++handed_out_};
    if (label != nullptr) block.label = labels_.emplace(label).first->c_str();
    const auto first = first_behind(&list, begin);
    const auto last = std::find_if(first, list.end(), [&](const MemoryBlock& b) { return b.begin >= block.end(); });
    if (first == last) {
      list.insert(first, block);
    } else {
      *first = block;
      list.erase(first + 1, last);
    }
    written_.forget(begin, block.end());
  } catch (...) {
    give_up();
  }
}

void MemoryBlocks::freed(const void* address) noexcept {
  if (!is_on_) return;
  const auto begin = reinterpret_cast<uint64_t>(address);
  std::lock_guard lock(mutex_);
  if (is_lost_ || list_ == nullptr) return;
  try {
    List& list = changeable();
    const auto found = first_behind(&list, begin);
    if (found != list.end() && found->begin == begin) found->is_live = false;
  } catch (...) {
    give_up();
  }
}

void MemoryBlocks::note_written(const void* address, size_t bytes) noexcept {
  const auto begin = reinterpret_cast<uint64_t>(address);
  if (bytes == 0 || begin + bytes < begin) return;
  std::lock_guard lock(mutex_);
  if (is_lost_ || list_ == nullptr) return;
  try {
    written_.write(begin, begin + bytes);
  } catch (...) {
    give_up();
  }
}

std::pair<uint64_t, uint64_t> MemoryBlocks::find_unwritten(const List& snapshot, uint64_t begin,
                                                           uint64_t end) noexcept {
  const MemoryBlock* known = live_block(snapshot, begin);
  std::lock_guard lock(mutex_);
  if (known == nullptr || list_ == nullptr) return {end, 0};
  const MemoryBlock* found = live_block(*list_, begin);
  // The program may have freed the block since, and have another one there.
  if (found == nullptr || found->number != known->number) return {end, 0};
  const uint64_t until = written_.written_until(begin);
  return {until, until < std::min(end, found->end()) ? until : 0};
}

void MemoryBlocks::erase(const void* base, size_t bytes) noexcept {
  const auto begin = reinterpret_cast<uint64_t>(base);
  std::lock_guard lock(mutex_);
  if (is_lost_ || list_ == nullptr) return;
  try {
    List& list = changeable();
    const auto first = first_behind(&list, begin);
    const auto last = std::find_if(first, list.end(), [&](const MemoryBlock& b) { return b.begin >= begin + bytes; });
    list.erase(first, last);
  } catch (...) {
    give_up();
  }
}

std::shared_ptr<const MemoryBlocks::List> MemoryBlocks::snapshot() noexcept {
  if (!is_on_) return nullptr;
  std::lock_guard lock(mutex_);
  is_shared_ = list_ != nullptr;
  return list_;
}

MemoryBlocks::List& MemoryBlocks::changeable() {
  if (list_ == nullptr) {
    list_ = std::make_shared<List>();
  } else if (is_shared_) {
    list_ = std::make_shared<List>(*list_);
  }
  is_shared_ = false;
  return *list_;
}

void MemoryBlocks::give_up() noexcept {
  is_lost_ = true;
  list_ = nullptr;
  written_.clear();
}

}  // namespace softnpu
