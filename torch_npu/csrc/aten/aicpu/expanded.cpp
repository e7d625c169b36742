#include "aten/aicpu/expanded.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <optional>

#include "aten/aicpu/copying.h"
#include "aten/aicpu/error.h"
#include "core/allocator/caching_allocator.h"

namespace torch_npu::aicpu {
namespace {

// The bytes that a process can address, as kernels compute with them.
constexpr double kAddressable = static_cast<double>(int64_t{1} << 47);
// A kernel's temporaries are at most a value and an index for each element, as pairs.
constexpr int64_t kIndexBytes = sizeof(int64_t);

// The arguments of this thread's kernel.
struct Temporaries {
  int64_t elements = 0;  // of the largest argument whose elements share memory
  int64_t stored = 0;    // of the largest argument that stores all of its elements
  c10::DataPtr reserved;
};

thread_local std::optional<Temporaries> temporaries;

bool takes_no_temporaries(const char* op) {
  const auto& names = streaming_operators();
  return std::binary_search(names.begin(), names.end(), base_name(op));
}

}  // namespace

void TemporariesScope::release_temporaries() noexcept {
  if (C10_UNLIKELY(temporaries.has_value())) temporaries.reset();
}

void reserve_many(const char* op, c10::DeviceIndex device, const at::Tensor& tensor) {
  if (!temporaries.has_value()) temporaries.emplace();
  const int64_t numel = tensor.numel();
  const auto itemsize = static_cast<int64_t>(tensor.itemsize());
  if (static_cast<int64_t>(tensor.storage().nbytes()) / itemsize >= numel) {
    temporaries->stored = std::max(temporaries->stored, numel);
    if (temporaries->stored >= temporaries->elements) temporaries->reserved.clear();
    return;
  }
  if (numel <= temporaries->elements || numel <= temporaries->stored) return;
  temporaries->elements = numel;
  TORCH_CHECK_WITH(OutOfMemoryError, static_cast<double>(numel) * static_cast<double>(itemsize) < kAddressable,
                   "NPU out of memory. aten::", base_name(op), " was called with ", numel, " elements of ", itemsize,
                   " bytes that share memory: more than a process can address");
  if (takes_no_temporaries(op)) return;
  temporaries->reserved.clear();
  const auto bytes = static_cast<std::size_t>(2 * numel * std::max(itemsize, kIndexBytes));
  temporaries->reserved = caching_allocator().allocate_on(device, bytes);
}

}  // namespace torch_npu::aicpu
