#include "core/memory_events.h"

#include "core/acl.h"
#include "core/aclnn.h"

namespace torch_npu {
namespace {

using Report = void (*)(const void*, std::size_t);

// Smaller blocks have no packed copy.
constexpr std::size_t kMinReported = std::size_t{16} << 10;

}  // namespace

void bump_write_epoch(const void* address, std::size_t nbytes) {
  static const auto bump = reinterpret_cast<Report>(bound_symbol("softnpuBumpWriteEpoch"));
  if (bump != nullptr && nbytes > 0) bump(address, nbytes);
}

void report_freed(const void* address, std::size_t nbytes) {
  static const auto report = reinterpret_cast<Report>(bound_symbol("softnpuMemoryFreed"));
  if (report != nullptr && nbytes >= kMinReported) report(address, nbytes);
}

std::int64_t packed_weights_bytes(c10::DeviceIndex device) {
  using Get = aclError (*)(std::int32_t, std::uint64_t*);
  static const auto get = reinterpret_cast<Get>(aclnn_symbol("softnpuGetPackedBytes"));
  std::uint64_t bytes = 0;
  if (get != nullptr) acl_check(get(device, &bytes), "softnpuGetPackedBytes");
  return static_cast<std::int64_t>(bytes);
}

}  // namespace torch_npu
