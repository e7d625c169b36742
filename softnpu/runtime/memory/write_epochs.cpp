#include "runtime/memory/write_epochs.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/round.h"

namespace softnpu {
namespace {

// Unmapped bytes before and after the slots: device memory may be adjacent, and a kernel that overruns it must not
// overwrite epochs.
constexpr size_t kGuard = size_t{64} << 10;

}  // namespace

WriteEpochs::WriteEpochs(const Region& region) : base_(region.base()), range_(region.range()) {
  const size_t pieces = range_ / kChunk + 1;
  const size_t bytes = round_up((2 * pieces + pieces * (kChunk / kGrain)) * sizeof(Slot), kGuard);
  void* reserved = mmap(nullptr, bytes + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return;
  void* slots = static_cast<char*>(reserved) + kGuard;
  if (mprotect(slots, bytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(reserved, bytes + 2 * kGuard);
    return;
  }
  slots_ = slots;
  slot_bytes_ = bytes;
  touched_ = static_cast<Slot*>(slots);
  covered_ = touched_ + pieces;
  grains_ = covered_ + pieces;
}

WriteEpochs::~WriteEpochs() {
  if (slots_ != nullptr) munmap(static_cast<char*>(slots_) - kGuard, slot_bytes_ + 2 * kGuard);
}

template <typename Covered, typename Part>
void WriteEpochs::for_pieces(size_t first, size_t last, const Covered& covered, const Part& part) {
  for (size_t at = first; at < last;) {
    const size_t chunk = at / kChunk;
    const size_t end = std::min(last, (chunk + 1) * kChunk);
    if (end - at == kChunk) {
      covered(chunk);
    } else {
      part(chunk, at / kGrain, (end - 1) / kGrain + 1);
    }
    at = end;
  }
}

std::array<size_t, 2> WriteEpochs::offsets(const void* address, size_t bytes) const {
  const auto* byte = static_cast<const char*>(address);
  if (slots_ == nullptr || byte < base_ || byte >= base_ + range_) return {0, 0};
  const auto first = static_cast<size_t>(byte - base_);
  return {first, first + std::min(bytes, range_ - first)};
}

void WriteEpochs::bump_all() {
  all_.store(newest_.fetch_add(1, std::memory_order_acq_rel) + 1, std::memory_order_relaxed);
}

void WriteEpochs::bump(const void* address, size_t bytes) {
  const uint64_t now = newest_.fetch_add(1, std::memory_order_acq_rel) + 1;
  const auto [first, last] = offsets(address, bytes);
  for_pieces(
      first, last,
      [&](size_t chunk) {
        touched_[chunk].store(now, std::memory_order_relaxed);
        covered_[chunk].store(now, std::memory_order_relaxed);
      },
      [&](size_t chunk, size_t begin, size_t end) {
        touched_[chunk].store(now, std::memory_order_relaxed);
        for (size_t grain = begin; grain < end; ++grain) grains_[grain].store(now, std::memory_order_relaxed);
      });
}

void WriteEpochs::share(const void* address, size_t bytes) {
  std::lock_guard lock(mutex_);
  size_t& known = shared_[static_cast<const char*>(address)];
  known = std::max(known, bytes);
  shared_count_ = shared_.size();
}

void WriteEpochs::unshare(const void* address, size_t bytes) {
  if (shared_count_ == 0) return;
  const auto* begin = static_cast<const char*>(address);
  std::lock_guard lock(mutex_);
  shared_.erase(shared_.lower_bound(begin), shared_.lower_bound(begin + bytes));
  shared_count_ = shared_.size();
}

uint64_t WriteEpochs::epoch(const void* address, size_t bytes) const {
  if (slots_ == nullptr) return kUnknown;
  if (shared_count_ != 0) {
    const auto* begin = static_cast<const char*>(address);
    std::lock_guard lock(mutex_);
    for (const auto& [start, length] : shared_) {
      if (start < begin + bytes && begin < start + length) return kUnknown;
    }
  }
  uint64_t newest = all_.load(std::memory_order_relaxed);
  const auto see = [&newest](const Slot& slot) { newest = std::max(newest, slot.load(std::memory_order_relaxed)); };
  const auto [first, last] = offsets(address, bytes);
  for_pieces(
      first, last, [&](size_t chunk) { see(touched_[chunk]); },
      [&](size_t chunk, size_t begin, size_t end) {
        see(covered_[chunk]);
        for (size_t grain = begin; grain < end; ++grain) see(grains_[grain]);
      });
  return newest;
}

void WriteEpochs::clear() {
  if (slots_ != nullptr) madvise(slots_, slot_bytes_, MADV_DONTNEED);
  all_ = 0;
  std::lock_guard lock(mutex_);
  shared_.clear();
  shared_count_ = 0;
}

}  // namespace softnpu
