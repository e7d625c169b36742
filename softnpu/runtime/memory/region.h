#pragma once
// A device's address range: its memory (one memfd), followed by a window of reserved addresses into which memory of
// this or another process can be mapped. An address identifies its device.

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

  // Maps `size` bytes of memory (rounded up to huge pages) followed by `window` bytes of addresses. With `protect` the
  // addresses that the host sees are inaccessible; kernels use a second mapping, kernel_offset() bytes away. May be
  // called again after a failure.
  Status map(size_t size, size_t window, bool protect);

  // Maps `size` bytes of `fd` (fd() for this device's memory) from `offset` at `address` in the window; all in pages.
  Status map_window(char* address, size_t size, int fd, size_t offset);
  // Unmaps the range and keeps its addresses reserved.
  Status unmap_window(char* address, size_t size);

  // Backs [offset, offset + size) with huge pages before its first use, if the kernel can; otherwise a no-op.
  void prepare(size_t offset, size_t size);

  int fd() const { return fd_; }
  char* base() const { return base_; }
  size_t size() const { return size_; }  // of the memory, without the window
  char* window() const { return base_ + size_; }
  size_t range() const { return size_ + window_; }  // of memory and window
  ptrdiff_t kernel_offset() const { return kernel_base_ - base_; }
  bool contains(const void* address) const {
    const auto* byte = static_cast<const char*>(address);
    return byte >= base_ && byte < base_ + range();
  }

 private:
  void clear();

  int fd_ = -1;
  bool protect_ = false;
  size_t size_ = 0;
  size_t window_ = 0;
  char* base_ = nullptr;         // the addresses that the ABI returns
  char* kernel_base_ = nullptr;  // where kernels access the memory; equals base_ unless protected
  size_t prepared_ = 0;          // huge pages below this offset were prepared; guarded by the heap's lock
};

}  // namespace softnpu
