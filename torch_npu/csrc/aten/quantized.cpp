// Copies of quantized tensors. All other operators on them take the AI CPU route.

#include <ATen/core/Tensor.h>
#include <ATen/quantized/QTensorImpl.h>
#include <ATen/quantized/Quantizer.h>
#include <torch/library.h>

#include "aten/aicpu/cpu_view.h"
#include "aten/aicpu/host_call.h"

namespace torch_npu {
namespace {

// The integers of a quantized tensor, on the same storage.
at::Tensor integers(const at::Tensor& quantized) {
  const at::ScalarType dtype = quantized.scalar_type();
  TORCH_CHECK(dtype == at::kQInt8 || dtype == at::kQUInt8 || dtype == at::kQInt32, "npu tensors of dtype ", dtype,
              " cannot be copied: its elements share bytes");
  const auto backend = quantized.is_privateuseone() ? c10::DispatchKey::PrivateUse1 : c10::DispatchKey::CPU;
  at::Tensor plain =
      at::detail::make_tensor<c10::TensorImpl>(c10::Storage(quantized.storage()), c10::DispatchKeySet(backend),
                                               c10::scalarTypeToTypeMeta(at::toUnderlying(dtype)));
  plain.unsafeGetTensorImpl()->set_sizes_and_strides(quantized.sizes(), quantized.strides(),
                                                     quantized.storage_offset());
  return plain;
}

// Quantizes floats into `dst` in place, with the CPU's rules and errors.
void quantize_into(const at::Tensor& dst, const at::Tensor& floats) {
  at::Tensor near = floats.to(dst.device());
  if (dst.is_cpu()) {
    dst.copy_(near);
    return;
  }
  aicpu::CpuViews cpu_views(dst.device().index());
  at::Tensor to = cpu_views.to_cpu(dst);
  at::Tensor from = cpu_views.to_cpu(near);
  aicpu::HostCall call(dst.device().index(), "copy_");
  to.copy_(from);
}

// As copy_ on the CPU: from a quantized source the target takes the quantizer too; a float source is quantized by the
// target's own.
at::Tensor copy_quantized(const at::Tensor& self, const at::Tensor& dst, bool non_blocking) {
  TORCH_CHECK(dst.is_quantized(),
              "Copying from quantized Tensor to non-quantized Tensor is not allowed, please use dequantize to get a "
              "float Tensor from a quantized Tensor");
  if (!self.is_quantized()) {
    quantize_into(dst, self);
    return dst;
  }
  TORCH_CHECK(self.scalar_type() == dst.scalar_type(), "a quantized tensor of dtype ", self.scalar_type(),
              " cannot be copied to one of dtype ", dst.scalar_type());
  TORCH_CHECK(self.qscheme() == dst.qscheme(),
              "Quantized Copy only works with same qscheme in source and destination Tensors");
  integers(dst).copy_(integers(self), non_blocking);
  at::get_qtensorimpl(dst)->set_quantizer_(at::get_qtensorimpl(self)->quantizer());
  return dst;
}

TORCH_LIBRARY_IMPL(aten, QuantizedPrivateUse1, m) { m.impl("_copy_from", &copy_quantized); }

}  // namespace
}  // namespace torch_npu
