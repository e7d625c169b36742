// The overflow flag of a device as operators of namespace npu.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "core/acl.h"
#include "core/device.h"
#include "core/format.h"
#include "core/stream.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

constexpr int64_t kWords = 8;

at::TensorOptions words_of(const Tensor& input, at::ScalarType dtype) {
  return at::TensorOptions().device(input.device()).dtype(dtype);
}

void check(const char* name, const Tensor& input) {
  TORCH_CHECK(input.is_privateuseone(), "npu::", name, " takes a tensor on npu, not on ", input.device());
}

Tensor npu_alloc_float_status(const Tensor& input) {
  check("npu_alloc_float_status", input);
  return at::zeros({kWords}, words_of(input, at::kFloat));
}

// In stream order: the flag as the operators before it have left it.
Tensor npu_get_float_status(const Tensor& input, int64_t /*mode*/) {
  check("npu_get_float_status", input);
  Tensor status = at::empty({kWords}, words_of(input, at::kInt));
  bind_device(input.device().index());
  const Enqueue enqueue(current_stream(input.device().index()));
  acl_check(aclrtGetOverflowStatus(mutable_plain_data(status), status.nbytes(), enqueue.handle()),
            "aclrtGetOverflowStatus");
  return status;
}

Tensor npu_clear_float_status(const Tensor& input, int64_t /*mode*/) {
  check("npu_clear_float_status", input);
  bind_device(input.device().index());
  {
    const Enqueue enqueue(current_stream(input.device().index()));
    acl_check(aclrtResetOverflowStatus(enqueue.handle()), "aclrtResetOverflowStatus");
  }
  return at::zeros({kWords}, words_of(input, at::kInt));
}

Tensor meta_alloc(const Tensor& input) { return at::empty({kWords}, words_of(input, at::kFloat)); }
Tensor meta_status(const Tensor& input, int64_t /*mode*/) { return at::empty({kWords}, words_of(input, at::kInt)); }

TORCH_LIBRARY_IMPL(npu, PrivateUse1, m) {
  m.impl("npu_alloc_float_status", &npu_alloc_float_status);
  m.impl("npu_get_float_status", &npu_get_float_status);
  m.impl("npu_clear_float_status", &npu_clear_float_status);
}
TORCH_LIBRARY_IMPL(npu, Meta, m) {
  m.impl("npu_alloc_float_status", &meta_alloc);
  m.impl("npu_get_float_status", &meta_status);
  m.impl("npu_clear_float_status", &meta_status);
}

}  // namespace
}  // namespace torch_npu::custom
