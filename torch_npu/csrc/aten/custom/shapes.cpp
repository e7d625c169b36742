#include "aten/custom/shapes.h"

#include <ATen/WrapDimUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>

#include <vector>

namespace torch_npu::shapes {

at::Tensor Output::make() const { return is_absent ? at::Tensor() : at::empty_symint(sizes, options); }

void Output::give(const at::Tensor& out) const {
  TORCH_CHECK(out.scalar_type() == c10::typeMetaToScalarType(options.dtype()), "Expected out to have dtype ",
              options.dtype(), ", but got ", out.dtype(), " instead");
  TORCH_CHECK(out.device() == options.device(), "Expected out to be on ", options.device(), ", but got ", out.device(),
              " instead");
  at::native::resize_output_symint(out, sizes);
}

std::vector<at::Tensor> OutputList::make() const {
  std::vector<at::Tensor> result;
  for (const Output& output : outputs) result.push_back(output.make());
  return result;
}

Output like(const at::Tensor& tensor) { return {c10::SymDimVector(tensor.sym_sizes()), tensor.options()}; }

Output widened(const at::Tensor& tensor) {
  Output output = like(tensor);
  if (tensor.scalar_type() != at::kDouble) output.options = output.options.dtype(at::kFloat);
  return output;
}

Output sized(const at::Tensor& tensor, const at::Tensor& other) {
  return {c10::SymDimVector(tensor.sym_sizes()), other.options()};
}

Output with_rgb_channels(const at::Tensor& image) {
  const int64_t channel = image.dim() - 3;
  Output output = like(image);
  TORCH_CHECK(channel >= 0 && (image.sym_size(channel) == 3 || image.sym_size(channel) == 1),
              "an image is [..., channels, height, width] with 1 or 3 channels, and not ", image.sym_sizes());
  output.sizes[static_cast<std::size_t>(channel)] = 3;
  return output;
}

Output half_size(const at::Tensor& tensor, int64_t dim) {
  const int64_t d = at::maybe_wrap_dim(dim, tensor.dim(), /*wrap_scalar=*/false);
  Output output = like(tensor);
  c10::SymInt& size = output.sizes[static_cast<std::size_t>(d)];
  TORCH_CHECK(size % 2 == 0, "dimension ", d, " of a tensor of size ", tensor.sym_sizes(), " has no halves");
  size = size / 2;
  return output;
}

Output rows(const at::Tensor& tensor, const at::Tensor& gamma) {
  const int64_t first = tensor.dim() - gamma.dim();
  const auto last = first < 0 ? c10::SymIntArrayRef() : tensor.sym_sizes().slice(static_cast<std::size_t>(first));
  TORCH_CHECK(first >= 0 && last == gamma.sym_sizes(), "gamma is of size ", gamma.sym_sizes(),
              ", which the last dimensions of a tensor of size ", tensor.sym_sizes(), " are not");
  Output output = widened(tensor);
  std::fill(output.sizes.begin() + first, output.sizes.end(), 1);
  return output;
}

Output permuted(const at::Tensor& tensor, at::IntArrayRef perm) {
  const int64_t dims = tensor.dim();
  TORCH_CHECK(static_cast<int64_t>(perm.size()) == dims, "perm ", perm, " does not order the ", dims,
              " dimensions of a tensor of size ", tensor.sym_sizes());
  std::vector<bool> seen(perm.size());
  Output output{{}, tensor.options()};
  for (const int64_t dim : perm) {
    const auto d = static_cast<std::size_t>(at::maybe_wrap_dim(dim, dims));
    TORCH_CHECK(!seen[d], "perm ", perm, " names dimension ", d, " twice");
    seen[d] = true;
    output.sizes.push_back(tensor.sym_sizes()[d]);
  }
  return output;
}

}  // namespace torch_npu::shapes
