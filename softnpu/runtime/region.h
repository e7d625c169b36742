#pragma once
// A device's memory: one memfd mapped into one reserved address range, so that an address tells its device and
// another process can map the same bytes.

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace softnpu {

class Region {
 public:
  static constexpr size_t kHugePage = size_t{2} << 20;

  Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region();

  // Maps `size` bytes (rounded up to huge pages). With `protect` the addresses that the host sees cannot be read or
  // written; kernels use a second mapping, kernel_offset() bytes away.
  Status map(size_t size, bool protect);

  // Backs [offset, offset + size) with huge pages before its first use, where the kernel can; a no-op elsewhere.
  void prepare(size_t offset, size_t size);

  char* base() const { return base_; }
  size_t size() const { return size_; }
  ptrdiff_t kernel_offset() const { return kernel_base_ - base_; }
  bool contains(const void* address) const {
    const auto* byte = static_cast<const char*>(address);
    return byte >= base_ && byte < base_ + size_;
  }

 private:
  int fd_ = -1;
  size_t size_ = 0;
  char* base_ = nullptr;         // what the ABI hands out
  char* kernel_base_ = nullptr;  // where kernels read and write; equals base_ unless protected
  size_t prepared_ = 0;          // huge pages below this offset were prepared; the heap's lock guards it
};

}  // namespace softnpu
