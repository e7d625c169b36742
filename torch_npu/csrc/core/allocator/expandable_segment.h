#pragma once
// An address range whose memory is mapped piece by piece, so that one segment can grow and shrink with a program's
// sizes.

#include <acl/acl.h>
#include <c10/core/Device.h>

#include <cstddef>
#include <map>
#include <memory>

namespace torch_npu {

class ExpandableSegment {
 public:
  // Reserves `size` bytes of addresses (rounded up to units) on the current device, without memory. Null if the device
  // has too few left.
  static std::unique_ptr<ExpandableSegment> reserve(c10::DeviceIndex device, std::size_t size, std::size_t unit);
  ExpandableSegment(const ExpandableSegment&) = delete;
  ExpandableSegment& operator=(const ExpandableSegment&) = delete;
  ~ExpandableSegment();

  char* base() const { return base_; }
  std::size_t size() const { return size_; }
  std::size_t unit() const { return unit_; }

  // Maps memory at [address, address + size), which are whole unmapped units. False, with no change, if the device has
  // too little.
  bool map(char* address, std::size_t size);
  // Unmaps whole units and returns their memory to the device. No work may use it any more.
  void unmap(char* address, std::size_t size) noexcept;

 private:
  ExpandableSegment(c10::DeviceIndex device, std::size_t size, std::size_t unit, void* base)
      : device_(device), unit_(unit), size_(size), base_(static_cast<char*>(base)) {}

  const c10::DeviceIndex device_;
  const std::size_t unit_;
  const std::size_t size_;
  char* const base_;
  std::map<char*, aclrtDrvMemHandle> units_;  // the memory of each mapped unit
};

}  // namespace torch_npu
