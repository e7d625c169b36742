#pragma once
// Calls on images in NC1HWC0, by operators that know them or need not (`keeps_format` in the YAML): the first output
// is made in the format, too. What aclnn does not take in blocks goes the way of plain tensors.

#include <ATen/core/Tensor.h>

#include <optional>

#include "aten/aclnn/outputs.h"
#include "aten/empty.h"
#include "core/format.h"

namespace torch_npu::aclnn_check {

// What the tensors of one call say.
class Images {
 public:
  template <typename... Tensors>
  explicit Images(const Tensors&... tensors) {
    (look_at(tensors), ...);
  }

  // Whether there are any in NC1HWC0, and none in blocks of which the call sees but a part.
  bool stay_in_nc1hwc0() const { return first_.defined() && !refused_; }

  // As the call's descriptors are to show it: an image of the sizes of the first one in blocks.
  InStorageShape seen(const at::Tensor& tensor) const;
  InStorageShape seen(const std::optional<at::Tensor>& tensor) const { return seen(tensor.value_or(at::Tensor())); }

  // Puts an NC1HWC0 image into the place of the one that the rule has made.
  void remake(at::Tensor& out) const;

  void look_at(const at::Tensor& tensor);
  void look_at(const std::optional<at::Tensor>& tensor) {
    if (tensor.has_value()) look_at(*tensor);
  }

 private:
  at::Tensor first_;
  bool refused_ = false;
};

// The outputs of a call as descriptors show them.
template <std::size_t N>
class StorageShapeOutputs {
 public:
  explicit StorageShapeOutputs(Outputs<N>& outputs) : outputs_(outputs) {}
  InStorageShape operator[](std::size_t i) const { return InStorageShape{outputs_[i]}; }

 private:
  Outputs<N>& outputs_;
};

// launch(outputs, tensors...) in blocks. False where aclnn does not take it so, with outputs as they were.
template <typename Launch, std::size_t N, typename... Tensors>
bool launch_in_nc1hwc0(const Launch& launch, Outputs<N>& results, const Tensors&... tensors) {
  const PrivateLayoutInUse in_use;
  Images images(tensors...);
  if (results.form() != Form::kNew) images.look_at(results[0]);
  if (!images.stay_in_nc1hwc0()) return false;
  if (results.form() != Form::kNew || !results[0].defined())
    return launch(StorageShapeOutputs<N>(results), images.seen(tensors)...);
  const at::DimVector strides(results[0].strides());
  images.remake(results[0]);
  if (launch(StorageShapeOutputs<N>(results), images.seen(tensors)...)) return true;
  results[0] = make_strided_tensor(results[0].sizes(), strides, results[0].scalar_type(), results[0].device().index());
  return false;
}

// launch(outputs, tensors...), in blocks where an image is and the operator can.
template <typename Launch, std::size_t N, typename... Tensors>
bool launch_images(const Launch& launch, Outputs<N>& results, const Tensors&... tensors) {
  if (C10_UNLIKELY(StorageImpl::count_private_storage() != 0) && launch_in_nc1hwc0(launch, results, tensors...))
    return true;
  return launch(results, tensors...);
}

}  // namespace torch_npu::aclnn_check
