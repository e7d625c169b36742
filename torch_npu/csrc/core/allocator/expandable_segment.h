#pragma once
// A range of addresses that gets its memory piece by piece, so that one segment can grow and shrink where the sizes
// that a program asks for change.

#include <acl/acl.h>
#include <c10/core/Device.h>

#include <cstddef>
#include <map>
#include <memory>

namespace torch_npu {

class ExpandableSegment {
 public:
  // `size` bytes of addresses (rounded up to units) on the current device; no memory yet. Null where the device has not
  // as many left.
  static std::unique_ptr<ExpandableSegment> reserve(c10::DeviceIndex device, std::size_t size, std::size_t unit);
  ExpandableSegment(const ExpandableSegment&) = delete;
  ExpandableSegment& operator=(const ExpandableSegment&) = delete;
  ~ExpandableSegment();

  char* base() const { return base_; }
  std::size_t size() const { return size_; }
  std::size_t unit() const { return unit_; }

  // Puts memory behind [address, address + size), which are whole units without any. False, with nothing changed,
  // where the device has not enough.
  bool map(char* address, std::size_t size);
  // Gives the memory of whole units back to the device. No work may use it any more.
  void unmap(char* address, std::size_t size) noexcept;

 private:
  ExpandableSegment(c10::DeviceIndex device, std::size_t size, std::size_t unit, void* base)
      : device_(device), unit_(unit), size_(size), base_(static_cast<char*>(base)) {}

  const c10::DeviceIndex device_;
  const std::size_t unit_;
  const std::size_t size_;
  char* const base_;
  std::map<char*, aclrtDrvMemHandle> units_;  // the memory behind each unit that has one
};

}  // namespace torch_npu
