// Where a tensor's memory is, and what is read of it soon. softnpu's device memory is the host's, which the CPU caches
// by itself: a tensor in swapped memory is one like others, and a hint only checks its arguments.

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include "aten/composed/operands.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

void npu_prefetch(const Tensor& input, const std::optional<Tensor>& dependency, int64_t max_size, int64_t offset) {
  constexpr const char* kName = "npu_prefetch";
  Operands(kName).take("input", input).take("dependency", dependency);
  TORCH_CHECK(max_size > 0, "The max_size should be greater than zero, but got ", max_size, ".");
  TORCH_CHECK(offset >= 0, "The offset should be nonnegative, but got ", offset, ".");
  const c10::SymInt bytes = input.sym_numel() * static_cast<int64_t>(input.element_size());
  TORCH_CHECK(offset == 0 || offset < bytes, "npu::", kName, ": offset is ", offset, " for a tensor of ", bytes,
              " bytes: one within the tensor is taken");
}

Tensor empty_with_swapped_memory(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                                 std::optional<at::Device> device) {
  at::detail::check_size_nonnegative(size);
  TORCH_CHECK(!device.has_value() || device->is_privateuseone(), "empty_with_swapped_memory makes npu tensors, not on ",
              *device);
  return at::empty(size, at::TensorOptions().dtype(dtype).device(device.value_or(at::Device(at::kPrivateUse1))));
}

TORCH_LIBRARY_IMPL(npu, PrivateUse1, m) { m.impl("npu_prefetch", &npu_prefetch); }
TORCH_LIBRARY_IMPL(npu, Meta, m) { m.impl("npu_prefetch", &npu_prefetch); }
TORCH_LIBRARY_IMPL(npu, CompositeExplicitAutograd, m) {
  m.impl("empty_with_swapped_memory", &empty_with_swapped_memory);
}

}  // namespace
}  // namespace torch_npu::custom
