#pragma once
// A device's address range: its memory, one memfd, mapped from the start of the range, and behind it a window of
// addresses into which parts of this or another process's memory can be mapped. An address tells its device.

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

  // May be called again after it failed. Maps `size` bytes of memory (rounded up to huge pages), with `window` bytes of
  // addresses behind them. With `protect` the addresses that the host sees cannot be read or written; kernels use a
  // second mapping, kernel_offset() bytes away.
  Status map(size_t size, size_t window, bool protect);

  // Maps `size` bytes of `fd` (fd() for this device's own) from `offset` at `address` in the window; all in pages.
  Status map_window(char* address, size_t size, int fd, size_t offset);
  // Makes the addresses empty again.
  Status unmap_window(char* address, size_t size);

  // Backs [offset, offset + size) with huge pages before its first use, where the kernel can; a no-op elsewhere.
  void prepare(size_t offset, size_t size);

  int fd() const { return fd_; }
  char* base() const { return base_; }
  size_t size() const { return size_; }  // of the memory
  char* window() const { return base_ + size_; }
  size_t range() const { return size_ + window_; }  // memory and window
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
  char* base_ = nullptr;         // what the ABI hands out
  char* kernel_base_ = nullptr;  // where kernels read and write; equals base_ unless protected
  size_t prepared_ = 0;          // huge pages below this offset were prepared; the heap's lock guards it
};

}  // namespace softnpu
