// Regions of images, and random choices among elements.

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

// A grid of bins with as many samples each, of regions [N, 5]: image, corners.
struct Grid {
  double scale;
  int64_t height, width, samples, end_mode;

  void check(const char* name, const Tensor& features, const Tensor& rois) const {
    const auto floats = dtypes({at::kHalf, at::kFloat, at::kDouble});
    Operands(name).take("input", features, floats).take("rois", rois, floats);
    TORCH_CHECK(rois.dim() == 2 && rois.sym_size(1) == 5 && height > 0 && width > 0, name, ": rois is of size ",
                rois.sym_sizes(), ", pooled sizes ", height, " and ", width,
                ": [N, 5], image and corners, and positive sizes are taken");
    TORCH_CHECK_NOT_IMPLEMENTED(samples > 0 && end_mode == 0, name, ": sample_num is ", samples, ", roi_end_mode ",
                                end_mode, ": a positive number and 0 are taken");
  }

  // Positions along one side, [N, bins * samples].
  Tensor along(const Tensor& from, const Tensor& to, int64_t bins) const {
    const Tensor start = from * scale;
    const Tensor size = ((to - from) * scale).clamp_min(1) / static_cast<double>(bins);
    const Tensor steps = (at::arange(bins * samples, start.options()) + 0.5) / static_cast<double>(samples);
    return start.unsqueeze(1) + size.unsqueeze(1) * steps;
  }

  Tensor pooled(const Tensor& features, const Tensor& rois) const {
    const std::vector<Tensor> c = rois.to(features.scalar_type()).unbind(1);
    const Tensor x = along(c[1], c[3], width), y = along(c[2], c[4], height);
    const Tensor image = c[0].to(at::kLong).reshape({-1, 1, 1});
    const Tensor pixels = features.permute({0, 2, 3, 1});
    // Of each position the pixels around it and the weight of the second one; positions outside have none.
    struct Side {
      Tensor low, high, weight, is_inside;
    };
    const auto side = [](const Tensor& at, int64_t count) {
      const Tensor within = at.clamp(0, static_cast<double>(count - 1));
      const Tensor low = within.floor().to(at::kLong);
      return Side{low, (low + 1).clamp_max(count - 1), within - within.floor(), at::logical_and(at >= -1, at <= count)};
    };
    const Side down = side(y, features.size(2)), across = side(x, features.size(3));
    const auto rows = [](const Tensor& t) { return t.unsqueeze(2); };
    const auto columns = [](const Tensor& t) { return t.unsqueeze(1); };
    const auto taken = [&](const Tensor& r, const Tensor& s) { return pixels.index({image, rows(r), columns(s)}); };
    const Tensor v = rows(down.weight).unsqueeze(-1), h = columns(across.weight).unsqueeze(-1);
    const Tensor sampled = (taken(down.low, across.low) * (1 - h) + taken(down.low, across.high) * h) * (1 - v) +
                           (taken(down.high, across.low) * (1 - h) + taken(down.high, across.high) * h) * v;
    const Tensor inside = at::logical_and(rows(down.is_inside), columns(across.is_inside)).unsqueeze(-1);
    return (sampled * inside.to(sampled.scalar_type()))
        .reshape({-1, height, samples, width, samples, features.size(1)})
        .mean({2, 4})
        .permute({0, 3, 1, 2})
        .contiguous();
  }
};

}  // namespace

Tensor npu_roi_align(const Tensor& self, const Tensor& rois, double spatial_scale, int64_t pooled_height,
                     int64_t pooled_width, int64_t sample_num, int64_t roi_end_mode) {
  const Grid grid{spatial_scale, pooled_height, pooled_width, sample_num, roi_end_mode};
  grid.check("npu_roi_align", self, rois);
  TORCH_CHECK(self.dim() == 4, "npu_roi_align: input is of size ", self.sym_sizes(), ": [B, C, H, W] is taken");
  if (self.is_meta()) {
    return at::empty_symint({rois.sym_size(0), self.sym_size(1), pooled_height, pooled_width}, self.options());
  }
  return grid.pooled(in_compute_type(self), in_compute_type(rois)).to(self.scalar_type());
}

Tensor npu_roi_alignbk(const Tensor& self, const Tensor& rois, at::IntArrayRef xdiff_shape, int64_t pooled_width,
                       int64_t pooled_height, double spatial_scale, int64_t sample_num,
                       std::optional<int64_t> roi_end_mode) {
  const Grid grid{spatial_scale, pooled_height, pooled_width, sample_num, roi_end_mode.value_or(1)};
  grid.check("npu_roi_alignbk", self, rois);
  TORCH_CHECK(xdiff_shape.size() == 4, "npu_roi_alignbk: xdiff_shape is ", xdiff_shape, ": four numbers are taken");
  const auto function = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{grid.pooled(inputs[0], in_compute_type(rois))};
  };
  const Tensor grad = in_compute_type(self);
  return gradients_of(function, {at::zeros(xdiff_shape, grad.options())}, {grad})[0].to(self.scalar_type());
}

// Indices of `count` elements that are True, in their order; zeros and a False stand in for missing ones. A count of 0
// takes all.
std::tuple<Tensor, Tensor> npu_random_choice_with_mask(const Tensor& x, int64_t count, int64_t seed, int64_t seed2) {
  constexpr const char* kName = "npu_random_choice_with_mask";
  Operands(kName).take("x", x, dtypes({at::kBool}));
  TORCH_CHECK(x.dim() > 0 && count >= 0, kName, ": x is of size ", x.sym_sizes(), ", count ", count,
              ": one dimension or more and no negative number are taken");
  if (x.is_meta()) {
    TORCH_CHECK_NOT_IMPLEMENTED(count > 0, kName, ": count is 0: the size of the result depends on the elements");
    return {at::empty_symint({count, x.dim()}, x.options().dtype(at::kInt)), at::empty_symint({count}, x.options())};
  }
  Tensor found = at::nonzero(x);
  if (count > 0 && found.size(0) > count) {
    // Both seeds at zero draw from PyTorch's generator of the CPU.
    const auto generator =
        seed == 0 && seed2 == 0
            ? at::detail::getDefaultCPUGenerator()
            : at::detail::createCPUGenerator(static_cast<uint64_t>(seed) ^ (static_cast<uint64_t>(seed2) << 32));
    const Tensor order = at::randperm(found.size(0), generator, at::TensorOptions().dtype(at::kLong));
    found = found.index_select(0, std::get<0>(order.slice(0, 0, count).sort()).to(x.device()));
  }
  const int64_t rows = count > 0 ? count : found.size(0);
  const Tensor indices = at::zeros({rows, x.dim()}, x.options().dtype(at::kInt));
  indices.narrow(0, 0, found.size(0)).copy_(found);
  const Tensor mask = at::zeros({rows}, x.options());
  mask.narrow(0, 0, found.size(0)).fill_(true);
  return {indices, mask};
}

}  // namespace torch_npu::custom
