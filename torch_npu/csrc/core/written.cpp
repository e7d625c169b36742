#include "core/written.h"

#include "core/acl.h"
#include "core/aclnn.h"

namespace torch_npu {
namespace {

using Mark = void (*)(const void*, std::size_t);

// Nothing smaller has a copy.
constexpr std::size_t kLeastReleased = std::size_t{16} << 10;

}  // namespace

void mark_written(const void* address, std::size_t nbytes) {
  static const auto mark = reinterpret_cast<Mark>(bound_symbol("softnpuMarkWritten"));
  if (mark != nullptr && nbytes > 0) mark(address, nbytes);
}

void mark_released(const void* address, std::size_t nbytes) {
  static const auto mark = reinterpret_cast<Mark>(bound_symbol("softnpuReleased"));
  if (mark != nullptr && nbytes >= kLeastReleased) mark(address, nbytes);
}

std::int64_t packed_weights_bytes(c10::DeviceIndex device) {
  using Get = aclError (*)(std::int32_t, std::uint64_t*);
  static const auto get = reinterpret_cast<Get>(aclnn_symbol("softnpuGetPackedBytes"));
  std::uint64_t bytes = 0;
  if (get != nullptr) acl_check(get(device, &bytes), "softnpuGetPackedBytes");
  return static_cast<std::int64_t>(bytes);
}

}  // namespace torch_npu
