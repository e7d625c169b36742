// Products of float32 matrices by aclnn; every other dtype through the AI CPU route.

#include <ATen/core/Tensor.h>
#include <ATen/ops/addmm_meta.h>
#include <ATen/ops/addmm_ops.h>
#include <ATen/ops/baddbmm_meta.h>
#include <ATen/ops/baddbmm_ops.h>
#include <ATen/ops/bmm_meta.h>
#include <ATen/ops/bmm_ops.h>
#include <ATen/ops/mm_meta.h>
#include <ATen/ops/mm_ops.h>
#include <aclnnop/aclnn_addmm.h>
#include <aclnnop/aclnn_baddbmm.h>
#include <aclnnop/aclnn_batch_mat_mul.h>
#include <aclnnop/aclnn_mm.h>
#include <torch/library.h>

#include "aten/aicpu/fallback.h"
#include "aten/out_rule.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "core/options.h"

namespace torch_npu {
namespace {

using at::Scalar;
using at::Tensor;

// The device of all of `tensors`; only the first may be undefined. Throws where there are several.
c10::DeviceIndex common_device(std::initializer_list<const Tensor*> tensors) {
  const Tensor* first = (*tensors.begin())->defined() ? *tensors.begin() : *(tensors.begin() + 1);
  const c10::Device device = first->device();
  for (const Tensor* t : tensors) {
    if (t->defined() && t->device() != device) throw_mixed_devices(device, t->device());
  }
  return device.index();
}

bool aclnn_takes(std::initializer_list<const Tensor*> tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const Tensor* t) { return t->scalar_type() == at::kFloat && t->numel() > 0; });
}

Tensor& mm_out(const Tensor& self, const Tensor& mat2, Tensor& out) {
  static const AclnnOp<decltype(&aclnnMmGetWorkspaceSize)> op("aclnnMm", "aclnnMmGetWorkspaceSize");
  const c10::DeviceIndex device = common_device({&out, &self, &mat2});
  OutRule<at::meta::structured_mm>(out).meta(self, mat2);
  if (op.available() && aclnn_takes({&self, &mat2})) {
    bind_device(device);
    op(device, AclTensor(self).get(), AclTensor(mat2).get(), AclTensor(out).get(), cube_math_type());
    return out;
  }
  return aicpu::Fallback<at::_ops::mm_out>::call(self, mat2, out);
}

Tensor& bmm_out(const Tensor& self, const Tensor& mat2, Tensor& out) {
  static const AclnnOp<decltype(&aclnnBatchMatMulGetWorkspaceSize)> op("aclnnBatchMatMul",
                                                                       "aclnnBatchMatMulGetWorkspaceSize");
  const c10::DeviceIndex device = common_device({&out, &self, &mat2});
  OutRule<at::meta::structured_bmm>(out).meta(self, mat2);
  if (op.available() && aclnn_takes({&self, &mat2})) {
    bind_device(device);
    op(device, AclTensor(self).get(), AclTensor(mat2).get(), AclTensor(out).get(), cube_math_type());
    return out;
  }
  return aicpu::Fallback<at::_ops::bmm_out>::call(self, mat2, out);
}

Tensor& addmm_out(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha,
                  Tensor& out) {
  static const AclnnOp<decltype(&aclnnAddmmGetWorkspaceSize)> op("aclnnAddmm", "aclnnAddmmGetWorkspaceSize");
  const c10::DeviceIndex device = common_device({&out, &self, &mat1, &mat2});
  OutRule<at::meta::structured_addmm>(out).meta(self, mat1, mat2, beta, alpha);
  if (op.available() && aclnn_takes({&self, &mat1, &mat2})) {
    bind_device(device);
    op(device, AclTensor(self).get(), AclTensor(mat1).get(), AclTensor(mat2).get(), AclScalar(beta).get(),
       AclScalar(alpha).get(), AclTensor(out).get(), cube_math_type());
    return out;
  }
  return aicpu::Fallback<at::_ops::addmm_out>::call(self, mat1, mat2, beta, alpha, out);
}

Tensor& baddbmm_out(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                    const Scalar& alpha, Tensor& out) {
  static const AclnnOp<decltype(&aclnnBaddbmmGetWorkspaceSize)> op("aclnnBaddbmm", "aclnnBaddbmmGetWorkspaceSize");
  const c10::DeviceIndex device = common_device({&out, &self, &batch1, &batch2});
  OutRule<at::meta::structured_baddbmm>(out).meta(self, batch1, batch2, beta, alpha);
  if (op.available() && aclnn_takes({&self, &batch1, &batch2})) {
    bind_device(device);
    op(device, AclTensor(self).get(), AclTensor(batch1).get(), AclTensor(batch2).get(), AclScalar(beta).get(),
       AclScalar(alpha).get(), AclTensor(out).get(), cube_math_type());
    return out;
  }
  return aicpu::Fallback<at::_ops::baddbmm_out>::call(self, batch1, batch2, beta, alpha, out);
}

// The forms that return a new tensor. PyTorch would derive them, as a second call through the dispatcher, which costs
// and shows in profiles as an operator within itself.
Tensor mm(const Tensor& self, const Tensor& mat2) {
  Tensor out;
  return mm_out(self, mat2, out);
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  Tensor out;
  return bmm_out(self, mat2, out);
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  Tensor out;
  return addmm_out(self, mat1, mat2, beta, alpha, out);
}

Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
               const Scalar& alpha) {
  Tensor out;
  return baddbmm_out(self, batch1, batch2, beta, alpha, out);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("mm", &mm);
  m.impl("bmm", &bmm);
  m.impl("addmm", &addmm);
  m.impl("baddbmm", &baddbmm);
  m.impl("mm.out", &mm_out);
  m.impl("bmm.out", &bmm_out);
  m.impl("addmm.out", &addmm_out);
  m.impl("baddbmm.out", &baddbmm_out);
}

}  // namespace
}  // namespace torch_npu
