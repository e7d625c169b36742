// _chunk_cat with a check that PyTorch's generic definition lacks: it accesses sizes of zero-dimensional tensors.

#include <ATen/core/Tensor.h>
#include <ATen/ops/_chunk_cat_compositeexplicitautograd_dispatch.h>
#include <torch/library.h>

namespace torch_npu {
namespace {

void check_dimensions(at::TensorList tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    TORCH_CHECK(tensors[i].dim() > 0, "_chunk_cat: tensor ", i, " of the list has no dimensions; it is cut along one");
  }
}

at::Tensor chunk_cat(at::TensorList tensors, int64_t dim, int64_t num_chunks) {
  check_dimensions(tensors);
  return at::compositeexplicitautograd::_chunk_cat(tensors, dim, num_chunks);
}

at::Tensor& chunk_cat_out(at::TensorList tensors, int64_t dim, int64_t num_chunks, at::Tensor& out) {
  check_dimensions(tensors);
  return at::compositeexplicitautograd::_chunk_cat_outf(tensors, dim, num_chunks, out);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_chunk_cat", &chunk_cat);
  m.impl("_chunk_cat.out", &chunk_cat_out);
}

}  // namespace
}  // namespace torch_npu
