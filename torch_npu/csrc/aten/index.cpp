// Indexing by tensors: reading and writing x[i, :, j].

#include <ATen/MemoryOverlap.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/IndexingUtils.h>
#include <ATen/ops/_index_put_impl_cpu_dispatch.h>
#include <ATen/ops/index_cpu_dispatch.h>
#include <ATen/ops/index_meta.h>
#include <aclnnop/aclnn_index.h>
#include <aclnnop/aclnn_index_put_impl.h>
#include <torch/library.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "aten/aclnn/check.h"
#include "aten/aclnn/host.h"
#include "aten/aclnn/outputs.h"
#include "aten/dynamic.h"
#include "aten/empty.h"
#include "core/aclnn.h"
#include "core/device.h"

namespace torch_npu {
namespace {

using Indices = c10::List<std::optional<at::Tensor>>;

// aclnn's arguments for the indices of a tensor.
struct Indexing {
  std::vector<at::Tensor> indices;  // on the device; empty for whole dimensions
  at::DimVector sizes;              // of the indexed result
};

// Whether whole dimensions separate several groups of indices: the indices' dimensions then come first.
bool are_apart(const std::vector<at::Tensor>& indices) {
  bool began = false;
  bool ended = false;
  for (const at::Tensor& index : indices) {
    if (index.defined() && ended) return true;
    began = began || index.defined();
    ended = began && !index.defined();
  }
  return false;
}

at::DimVector sizes_of(const at::Tensor& self, const std::vector<at::Tensor>& indices, at::IntArrayRef broadcast) {
  at::DimVector sizes;
  bool placed = are_apart(indices);
  if (placed) sizes.append(broadcast.begin(), broadcast.end());
  for (std::size_t d = 0; d < static_cast<std::size_t>(self.dim()); ++d) {
    if (d >= indices.size() || !indices[d].defined()) {
      sizes.push_back(self.sizes()[d]);
    } else if (!placed) {
      sizes.append(broadcast.begin(), broadcast.end());
      placed = true;
    }
  }
  return sizes;
}

bool is_index(const at::Tensor& index) {
  const at::ScalarType type = index.scalar_type();
  return type == at::kLong || type == at::kInt || type == at::kBool || type == at::kByte;
}

// Empty if ATen's kernel must handle the call: empty tensors, and all errors.
std::optional<Indexing> read(const at::Tensor& self, const Indices& given) {
  if (given.size() > static_cast<std::size_t>(self.dim())) return std::nullopt;
  std::vector<at::Tensor> indices;
  bool has_mask = false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::optional<at::Tensor> index = given.get(i);
    indices.push_back(index.value_or(at::Tensor()));
    if (!indices.back().defined()) continue;
    has_mask = has_mask || index->scalar_type() == at::kBool || index->scalar_type() == at::kByte;
    const bool is_here = index->is_cpu() || index->device() == self.device();
    if (!is_here || !is_index(*index) || index->layout() != at::kStrided || index->numel() == 0) return std::nullopt;
  }
  if (has_mask) indices = at::native::expandTensors(self, given, /*ensure_same_device=*/true);
  at::DimVector broadcast;
  bool has_index = false;
  for (const at::Tensor& index : indices) {
    if (!index.defined()) continue;
    if (index.numel() == 0 || !at::are_expandable(broadcast, index.sizes())) return std::nullopt;
    broadcast = at::infer_size_dimvector(broadcast, index.sizes());
    has_index = true;
  }
  if (!has_index || indices.size() > static_cast<std::size_t>(self.dim())) return std::nullopt;
  Indexing found{{}, sizes_of(self, indices, broadcast)};
  at::Tensor whole;
  for (const at::Tensor& index : indices) {
    if (!index.defined() && !whole.defined()) whole = make_tensor({0}, at::kLong, self.device().index());
    found.indices.push_back(!index.defined()                  ? whole
                            : index.device() == self.device() ? index
                                                              : index.to(self.device()));
  }
  return found;
}

// The result in the memory order that PyTorch's rule gives it: that of `self` and of the indices.
at::Tensor make_result(const at::Tensor& self, const Indexing& indexing) {
  const bool is_plain =
      self.is_contiguous() && std::all_of(indexing.indices.begin(), indexing.indices.end(),
                                          [](const at::Tensor& t) { return t.dim() <= 1 || t.is_contiguous(); });
  if (is_plain) return make_tensor(indexing.sizes, self.scalar_type(), self.device().index());
  std::vector<at::OptionalTensorRef> indices;
  for (const at::Tensor& index : indexing.indices) {
    const bool is_whole = index.dim() == 1 && index.numel() == 0;
    indices.push_back(is_whole ? at::OptionalTensorRef() : at::OptionalTensorRef(index));
  }
  aclnn_check::Outputs<1> outputs;
  aclnn_check::OutRule<at::meta::structured_index_Tensor, 1> rule(outputs);
  rule.apply(self, at::ArrayRef<at::OptionalTensorRef>(indices));
  return outputs.take();
}

// The mask, if the only index is one of the sizes of `self` on its device: it need not become indices.
std::optional<at::Tensor> whole_mask(const at::Tensor& self, const Indices& given) {
  if (given.size() != 1) return std::nullopt;
  std::optional<at::Tensor> mask = given.get(0);
  const bool is_mask = mask.has_value() && mask->defined() && mask->scalar_type() == at::kBool &&
                       mask->device() == self.device() && mask->sizes() == self.sizes() && self.dim() > 0 &&
                       self.numel() > 0;
  return is_mask ? mask : std::nullopt;
}

bool runs_index(const at::Tensor& self, const Indices& indices, at::Tensor& out) {
  static const AclnnOp<decltype(aclnnIndexGetWorkspaceSize)> op("aclnnIndex", AclObject::kTensorList);
  aclnn_check::Check check;
  if (!op.available() || !check.takes(self, aclnn_check::kAllDtypes)) return false;
  if (const std::optional<at::Tensor> mask = whole_mask(self, indices)) {
    if (std::optional<at::Tensor> selected = try_masked_select(self, *mask)) {
      out = std::move(*selected);
      return true;
    }
  }
  bind_device(check.device());
  const std::optional<Indexing> indexing = read(self, indices);
  if (!indexing.has_value()) return false;
  out = make_result(self, *indexing);
  return op.try_launch(check.device(), self, at::TensorList(indexing->indices), out);
}

at::Tensor index(const at::Tensor& self, const Indices& indices) {
  at::Tensor out;
  if (runs_index(self, indices, out)) return out;
  return aclnn_check::Host<"index.Tensor", &at::cpu::index, aicpu::InputLayout::kCpuIndices>::call(self, indices);
}

bool runs_index_put(const at::Tensor& self, const Indices& indices, const at::Tensor& values, bool accumulate,
                    bool unsafe) {
  static const AclnnOp<decltype(aclnnIndexPutImplGetWorkspaceSize)> op("aclnnIndexPutImpl", AclObject::kTensorList);
  aclnn_check::Check check;
  if (!op.available() || !check.writes(self, aclnn_check::kAllDtypes) ||
      !check.takes(values, aclnn_check::kAllDtypes) || values.scalar_type() != self.scalar_type() ||
      at::has_internal_overlap(self) != at::MemOverlap::No ||
      at::get_overlap_status(self, values) != at::MemOverlapStatus::No)
    return false;
  bind_device(check.device());
  const std::optional<Indexing> indexing = read(self, indices);
  if (!indexing.has_value() || !at::is_expandable_to(values.sizes(), indexing->sizes)) return false;
  for (const at::Tensor& index : indexing->indices) {
    if (at::get_overlap_status(self, index) != at::MemOverlapStatus::No) return false;
  }
  return op.try_launch(check.device(), self, at::TensorList(indexing->indices), values, accumulate, unsafe);
}

at::Tensor& index_put(at::Tensor& self, const Indices& indices, const at::Tensor& values, bool accumulate,
                      bool unsafe) {
  if (runs_index_put(self, indices, values, accumulate, unsafe)) return self;
  return aclnn_check::Host<"_index_put_impl_", &at::cpu::_index_put_impl_, aicpu::InputLayout::kCpuIndices>::call(
      self, indices, values, accumulate, unsafe);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("index.Tensor", &index);
  m.impl("_index_put_impl_", &index_put);
}

}  // namespace
}  // namespace torch_npu
