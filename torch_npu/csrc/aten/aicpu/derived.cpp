#include "aten/aicpu/derived.h"

#include <ATen/NestedTensorImpl.h>
#include <ATen/ops/clone.h>
#include <ATen/quantized/QTensorImpl.h>
#include <ATen/quantized/Quantizer.h>

#include "aten/aicpu/allocator.h"

namespace torch_npu::aicpu {
namespace {

at::QuantizerPtr own_quantizer(const at::Tensor& like) {
  at::QuantizerPtr quantizer = at::get_qtensorimpl(like)->quantizer();
  const auto* per_channel = dynamic_cast<const at::PerChannelAffineQuantizer*>(quantizer.get());
  if (per_channel == nullptr || !like.is_cpu()) return quantizer;
  // In host memory: device memory that a kernel allocates is taken over by the first result that refers to it.
  KernelScope host(-1);
  return at::make_per_channel_affine_quantizer(per_channel->scales().clone(), per_channel->zero_points().clone(),
                                               per_channel->axis(), like.scalar_type());
}

}  // namespace

at::Tensor quantized_like(c10::Storage storage, c10::DispatchKey backend, const at::Tensor& like) {
  auto impl = c10::make_intrusive<at::QTensorImpl>(std::move(storage), c10::DispatchKeySet(backend), like.dtype(),
                                                   own_quantizer(like));
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  return at::Tensor(std::move(impl));
}

at::Tensor nested_like(c10::Storage storage, c10::DispatchKey backend, const at::Tensor& like) {
  // Some derivatives are registered for nested tensors of all devices, under their own key.
  const c10::DispatchKeySet keys({backend, c10::DispatchKey::AutogradNestedTensor});
  const auto* nested = static_cast<const at::native::NestedTensorImpl*>(like.unsafeGetTensorImpl());
  KernelScope host(-1);
  auto own = [&](const at::Tensor& shape) { return like.is_cpu() ? shape.clone() : shape; };
  return at::Tensor(c10::make_intrusive<at::native::NestedTensorImpl>(
      std::move(storage), keys, like.dtype(), own(nested->get_nested_sizes()), own(nested->get_nested_strides()),
      own(nested->get_storage_offsets())));
}

}  // namespace torch_npu::aicpu
