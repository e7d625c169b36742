// A device's memory as a file, and where in it addresses are.

#include "softnpu/memory_file.h"

#include <algorithm>

#include "ascendcl/api.h"
#include "base/text.h"
#include "runtime/memory/address.h"

using softnpu::api;
using softnpu::Device;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::VirtualMemory;

namespace {

// The offset of the range in the device's memory; false if it is not one range of it.
bool offset_in_file(Device& device, const char* address, size_t bytes, size_t* offset) {
  softnpu::Region& region = device.region();
  const auto into = static_cast<size_t>(address - region.base());
  if (into < region.size()) {
    *offset = into;
    return true;
  }
  // Mappings may be adjacent in the window and in the file. Each consists of whole granules.
  constexpr size_t kGranularity = VirtualMemory::kGranularity;
  for (size_t done = 0; done < std::max<size_t>(bytes, 1);) {
    const size_t to_boundary = kGranularity - (into + done) % kGranularity;
    const size_t part = std::min(to_boundary, std::max<size_t>(bytes, 1) - done);
    size_t found = 0;
    if (!device.virtual_memory().locate(address + done, part, &found)) return false;
    if (done == 0) *offset = found;
    if (found != *offset + done) return false;
    done += part;
  }
  return true;
}

}  // namespace

aclError softnpuGetMemoryFile(int32_t deviceId, softnpuMemoryFile* memory) {
  return api("softnpuGetMemoryFile", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(memory, "memory"));
    SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
    SOFTNPU_RETURN_IF_ERROR(softnpu::check_device(deviceId));
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().device(deviceId, &device));
    softnpu::Region& region = device->region();
    *memory = {region.fd(), region.size(), region.base(), region.base() + region.kernel_offset()};
    return Status::ok();
  });
}

aclError softnpuLocate(const void* address, size_t bytes, softnpuLocation* result) {
  return api("softnpuLocate", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(result, "place"));
    softnpu::Location location;
    SOFTNPU_RETURN_IF_ERROR(softnpu::resolve(Process::get(), "the address", address, bytes, &location));
    *result = {-1, 0, 0, location.kernel};
    if (!location.on_device) {
      if (Process::get().host_memory().contains(address, bytes)) return Status::ok();
      return {ACL_ERROR_RT_PARAM_INVALID,
              softnpu::text("address ", address, " is not a device's, and no registered host memory")};
    }
    Device& device = *Process::get().device_of(address);
    result->deviceId = device.id();
    size_t offset = 0;
    if (!offset_in_file(device, static_cast<const char*>(address), bytes, &offset)) return Status::ok();
    result->isInFile = 1;
    result->offset = offset;
    result->kernel = device.region().base() + device.region().kernel_offset() + offset;
    return Status::ok();
  });
}
