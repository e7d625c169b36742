#include "ascendcl/written.h"

#include <algorithm>

namespace softnpu {

Device* clip(const void* address, size_t* bytes) {
  Device* device = Process::get().device_of(address);
  Allocation allocation;
  if (device == nullptr || !device->find(address, &allocation)) return nullptr;
  *bytes = std::min(*bytes, allocation.size - std::min(allocation.offset_of(address), allocation.size));
  return device;
}

void raise_epoch(const void* address, size_t bytes) {
  if (Device* device = clip(address, &bytes); device != nullptr) device->write_epochs().bump(address, bytes);
}

void raise_epochs(const softnpuRange* ranges, size_t count) {
  for (size_t i = 0; i < count; ++i) raise_epoch(ranges[i].address, ranges[i].bytes);
}

}  // namespace softnpu
