#pragma once
// Calls on NC1HWC0 images, for operators that support the format or do not depend on it (`keeps_format` in the YAML):
// the first output has the format too. If aclnn does not support the call in blocks, the tensors become plain.

#include <ATen/core/Tensor.h>

#include <optional>

#include "aten/aclnn/outputs.h"
#include "aten/empty.h"
#include "core/format.h"

namespace torch_npu::aclnn_check {

// The formats of one call's tensors.
class Images {
 public:
  template <typename... Tensors>
  explicit Images(const Tensors&... tensors) {
    (look_at(tensors), ...);
  }

  // Whether there are NC1HWC0 images, and no partial views of blocked storages.
  bool stay_in_nc1hwc0() const { return first_.defined() && !refused_; }

  // The tensor for its descriptor: in blocks if it is an image of the same sizes as the first one in blocks.
  InStorageShape seen(const at::Tensor& tensor) const;
  InStorageShape seen(const std::optional<at::Tensor>& tensor) const { return seen(tensor.value_or(at::Tensor())); }

  // Replaces the rule's output by an NC1HWC0 image.
  void remake(at::Tensor& out) const;

  void look_at(const at::Tensor& tensor);
  void look_at(const std::optional<at::Tensor>& tensor) {
    if (tensor.has_value()) look_at(*tensor);
  }

 private:
  at::Tensor first_;
  bool refused_ = false;
};

// A call's outputs for their descriptors.
template <std::size_t N>
class StorageShapeOutputs {
 public:
  explicit StorageShapeOutputs(Outputs<N>& outputs) : outputs_(outputs) {}
  InStorageShape operator[](std::size_t i) const { return InStorageShape{outputs_[i]}; }

 private:
  Outputs<N>& outputs_;
};

// Calls launch(outputs, tensors...) in blocks. False, with unchanged outputs, if aclnn does not support that.
template <typename Launch, std::size_t N, typename... Tensors>
bool launch_in_nc1hwc0(const Launch& launch, Outputs<N>& results, const Tensors&... tensors) {
  const PrivateLayoutInUse in_use;
  Images images(tensors...);
  if (results.variant() != Variant::kNew) images.look_at(results[0]);
  if (!images.stay_in_nc1hwc0()) return false;
  if (results.variant() != Variant::kNew || !results[0].defined())
    return launch(StorageShapeOutputs<N>(results), images.seen(tensors)...);
  const at::DimVector strides(results[0].strides());
  images.remake(results[0]);
  if (launch(StorageShapeOutputs<N>(results), images.seen(tensors)...)) return true;
  results[0] = make_strided_tensor(results[0].sizes(), strides, results[0].scalar_type(), results[0].device().index());
  return false;
}

// Calls launch(outputs, tensors...), in blocks if an image is in blocks and the operator supports it.
template <typename Launch, std::size_t N, typename... Tensors>
bool launch_images(const Launch& launch, Outputs<N>& results, const Tensors&... tensors) {
  if (C10_UNLIKELY(StorageImpl::count_private_storage() != 0) && launch_in_nc1hwc0(launch, results, tensors...))
    return true;
  return launch(results, tensors...);
}

}  // namespace torch_npu::aclnn_check
