#include "aten/aclnn/images.h"

#include "aten/format.h"

namespace torch_npu::aclnn_check {
namespace {

bool is_image(const at::Tensor& tensor, const at::Tensor& like) {
  return tensor.defined() && tensor.dim() == 4 && tensor.scalar_type() == like.scalar_type();
}

}  // namespace

void Images::look_at(const at::Tensor& tensor) {
  if (!tensor.defined()) return;
  const StorageImpl* storage = own_storage(*tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl());
  if (storage == nullptr || !storage->has_private_layout()) return;
  if (storage->format() != ACL_FORMAT_NC1HWC0 || tensor.dim() != 4 || !shows_all_blocks(tensor)) {
    refused_ = true;
  } else if (!first_.defined()) {
    first_ = tensor;
  }
}

InStorageShape Images::seen(const at::Tensor& tensor) const {
  const bool joins = is_image(tensor, first_) && tensor.sizes() == first_.sizes() && !shows_all_blocks(tensor);
  return InStorageShape{joins ? cast_to_blocked_format(tensor, ACL_FORMAT_NC1HWC0, ACL_DT_UNDEFINED) : tensor};
}

void Images::remake(at::Tensor& out) const {
  if (!is_image(out, first_)) return;
  const at::DimVector sizes(out.sizes());
  out.reset();
  out = empty_in_format(sizes, first_.scalar_type(), ACL_FORMAT_NC1HWC0, ACL_DT_UNDEFINED, first_.device().index());
}

}  // namespace torch_npu::aclnn_check
