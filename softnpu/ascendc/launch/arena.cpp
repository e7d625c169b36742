#include "ascendc/launch/arena.h"

#include <sys/mman.h>

#include <iterator>
#include <new>

namespace softnpu::kernel {
namespace {

constexpr size_t kPage = 4096;

constexpr size_t pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

Arena::Arena() {
  for (const size_t bytes : kLocalBytes) mapped_ += pages(bytes) + kPage;
  void* memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<uint8_t*>(memory);
  uint8_t* at = base_;
  for (const size_t bytes : kLocalBytes) {
    at += pages(bytes);
    // Without it the memories work as well; overruns are found later.
    (void)mprotect(at, kPage, PROT_NONE);
    at += kPage;
  }
}

Arena::~Arena() { munmap(base_, mapped_); }

void Arena::assign(Block* block) const {
  uint8_t* at = base_;
  for (size_t i = 0; i < std::size(kLocalBytes); ++i) {
    at += pages(kLocalBytes[i]);
    block->local[i] = at - kLocalBytes[i];
    block->local_bytes[i] = kLocalBytes[i];
    at += kPage;
  }
}

}  // namespace softnpu::kernel
