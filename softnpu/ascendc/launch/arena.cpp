#include "ascendc/launch/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <iterator>
#include <new>

namespace softnpu::kernel {

Arena::Arena() : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
  for (const size_t bytes : kLocalBytes) mapped_ += pages(bytes) + page_;
  void* memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<uint8_t*>(memory);
  uint8_t* at = base_;
  for (const size_t bytes : kLocalBytes) {
    at += pages(bytes);
    // Without it the memories work as well; overruns are found later.
    (void)mprotect(at, page_, PROT_NONE);
    at += page_;
  }
}

size_t Arena::pages(size_t bytes) const { return (bytes + page_ - 1) / page_ * page_; }

Arena::~Arena() { munmap(base_, mapped_); }

void Arena::assign(Block* block) const {
  uint8_t* at = base_;
  for (size_t i = 0; i < std::size(kLocalBytes); ++i) {
    at += pages(kLocalBytes[i]);
    block->local[i] = at - kLocalBytes[i];
    block->local_bytes[i] = kLocalBytes[i];
    at += page_;
  }
}

}  // namespace softnpu::kernel
