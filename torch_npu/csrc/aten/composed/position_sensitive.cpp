// Pooling of regions in bins with channels of their own, and targets of a grid's boxes.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <algorithm>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

constexpr aclnn_check::Dtypes kFeatures = dtypes({at::kHalf, at::kFloat, at::kDouble});

struct PositionSensitive {
  const char* name;
  const Tensor& rois;
  double scale;
  int64_t group, channels;

  void check() const {
    Operands(name).take("rois", rois, kFeatures);
    TORCH_CHECK(rois.dim() == 3 && rois.sym_size(1) == 5 && group > 0 && channels > 0, name, ": rois is of size ",
                rois.sym_sizes(), ", group_size ", group, ", output_dim ", channels,
                ": [B, 5, R], image and corners, and positive numbers are taken");
  }

  void check_images(c10::SymIntArrayRef sizes) const {
    TORCH_CHECK(sizes.size() == 4 && sizes[1] == channels * group * group, name, ": images are of size ", sizes,
                " for output_dim ", channels, " and group_size ", group,
                ": [N, output_dim group_size^2, H, W] is taken");
  }

  // Which pixels of `count` are in each bin along one side, [regions, group, count].
  Tensor within(const Tensor& from, const Tensor& to, int64_t count) const {
    constexpr double kLeast = 0.1;
    const Tensor start = (from + 0.5).floor() * scale, end = (to + 1.5).floor() * scale;
    const Tensor bin = (end - start).clamp_min(kLeast) / static_cast<double>(group);
    const Tensor numbers = at::arange(group, start.options());
    const Tensor low = (numbers * bin.unsqueeze(1) + start.unsqueeze(1)).floor().unsqueeze(2);
    const Tensor high = ((numbers + 1) * bin.unsqueeze(1) + start.unsqueeze(1)).ceil().unsqueeze(2);
    const Tensor pixels = at::arange(count, start.options());
    return at::logical_and(pixels >= low, pixels < high).to(start.scalar_type());
  }

  Tensor pooled(const Tensor& images) const {
    const int64_t count = images.size(0), height = images.size(2), width = images.size(3);
    // Corners are read in float64, so that no rounding moves a bin.
    const std::vector<Tensor> c = rois.transpose(1, 2).reshape({-1, 5}).to(at::kDouble).unbind(1);
    const Tensor image = c[0].to(at::kLong);
    const Tensor is_there = at::logical_and(image >= 0, image < count).to(images.scalar_type());
    const Tensor across = within(c[1], c[3], width).to(images.scalar_type());
    const Tensor down = within(c[2], c[4], height).to(images.scalar_type());
    const Tensor area = down.sum(2).unsqueeze(2) * across.sum(2).unsqueeze(1);  // [regions, group, group]
    if (image.numel() == 0) return at::zeros({0, channels, group, group}, images.options());
    // [regions, channels, group, group, height, width] is summed over one side, then the other.
    const Tensor taken =
        images.index_select(0, image.clamp(0, count - 1)).reshape({-1, channels, group, group, height, width});
    const Tensor rows = at::matmul(taken, across.reshape({-1, 1, 1, group, width, 1})).squeeze(-1);
    const Tensor sums = (rows * down.reshape({-1, 1, group, 1, height})).sum(-1);
    return sums / area.clamp_min(1).unsqueeze(1) * is_there.reshape({-1, 1, 1, 1});
  }
};

}  // namespace

Tensor npu_ps_roi_pooling(const Tensor& self, const Tensor& rois, double spatial_scale, int64_t group_size,
                          int64_t output_dim) {
  const PositionSensitive pool{"npu_ps_roi_pooling", rois, spatial_scale, group_size, output_dim};
  Operands(pool.name).take("input", self, kFeatures).take("rois", rois, kFeatures);
  pool.check();
  pool.check_images(self.sym_sizes());
  if (self.is_meta()) {
    return at::empty_symint({rois.sym_size(0) * rois.sym_size(2), output_dim, group_size, group_size}, self.options());
  }
  return pool.pooled(in_compute_type(self)).to(self.scalar_type());
}

Tensor npu_ps_roi_pooling_backward(const Tensor& output_grad, const Tensor& rois, double spatial_scale,
                                   int64_t group_size, int64_t output_dim, c10::SymIntArrayRef input_size) {
  const PositionSensitive pool{"npu_ps_roi_pooling_backward", rois, spatial_scale, group_size, output_dim};
  Operands(pool.name).take("output_grad", output_grad, kFeatures).take("rois", rois, kFeatures);
  pool.check();
  std::vector<c10::SymInt> sizes = input_size.vec();
  if (sizes.size() == 2) sizes = {rois.sym_size(0), output_dim * group_size * group_size, sizes[0], sizes[1]};
  pool.check_images(sizes);
  TORCH_CHECK(output_grad.sym_numel() == rois.sym_size(0) * rois.sym_size(2) * (output_dim * group_size * group_size),
              pool.name, ": output_grad is of size ", output_grad.sym_sizes(), " for rois of size ", rois.sym_sizes());
  if (output_grad.is_meta()) return at::empty_symint(sizes, output_grad.options());
  const auto function = [&](const std::vector<Tensor>& inputs) { return std::vector<Tensor>{pool.pooled(inputs[0])}; };
  const Tensor grad = in_compute_type(output_grad).reshape({-1, output_dim, group_size, group_size});
  return gradients_of(function, {at::zeros_symint(sizes, grad.options())}, {grad})[0].to(output_grad.scalar_type());
}

Tensor npu_grid_assign_positive(const Tensor& self, const Tensor& overlaps, const Tensor& box_responsible_flags,
                                const Tensor& max_overlaps, const Tensor& argmax_overlaps,
                                const Tensor& gt_max_overlaps, const Tensor& gt_argmax_overlaps, int64_t num_gts,
                                double pos_iou_thr, double min_pos_iou, bool gt_max_assign_all) {
  constexpr const char* kName = "npu_grid_assign_positive";
  const auto same = aclnn_check::dtype_bit(self.scalar_type());
  Operands(kName)
      .take("input", self, kFeatures)
      .take("overlaps", overlaps, same)
      .take("box_responsible_flags", box_responsible_flags, dtypes({at::kByte, at::kBool}))
      .take("max_overlaps", max_overlaps, same)
      .take("argmax_overlaps", argmax_overlaps, kIndexes)
      .take("gt_max_overlaps", gt_max_overlaps, same)
      .take("gt_argmax_overlaps", gt_argmax_overlaps, kIndexes);
  const c10::SymInt count = self.sym_numel();
  TORCH_CHECK(self.dim() == 1 && overlaps.dim() == 2 && overlaps.sym_size(1) == count &&
                  box_responsible_flags.sym_numel() == count && max_overlaps.sym_numel() == count &&
                  argmax_overlaps.sym_numel() == count && gt_max_overlaps.sym_numel() == overlaps.sym_size(0) &&
                  gt_argmax_overlaps.sym_numel() == overlaps.sym_size(0),
              kName, ": input is of size ", self.sym_sizes(), ", overlaps of size ", overlaps.sym_sizes(),
              ": [n] and [k, n], two tensors more of k numbers and three of n are taken");
  if (self.is_meta()) return at::empty_symint(self.sym_sizes(), self.options());
  const Tensor is_responsible = box_responsible_flags.reshape({-1}) != 0;
  Tensor result = at::where(at::logical_and(max_overlaps.reshape({-1}) > pos_iou_thr, is_responsible),
                            argmax_overlaps.reshape({-1}).to(self.scalar_type()) + 1, self);
  const int64_t targets = std::min<int64_t>(num_gts, overlaps.size(0));
  const Tensor numbers = at::arange(1, overlaps.size(0) + 1, overlaps.options()).unsqueeze(1);
  // A box that several targets choose has the last one.
  Tensor chosen;
  if (gt_max_assign_all) {
    chosen = overlaps == gt_max_overlaps.reshape({-1, 1});
  } else {
    chosen = at::arange(self.size(0), gt_argmax_overlaps.options()) == gt_argmax_overlaps.reshape({-1, 1});
  }
  chosen = at::logical_and(at::logical_and(chosen, is_responsible),
                           at::logical_and(gt_max_overlaps.reshape({-1, 1}) > min_pos_iou, numbers <= targets));
  if (chosen.numel() == 0) return apart_from(self, result);
  const Tensor last = at::where(chosen, numbers, 0).amax({0});
  return apart_from(self, at::where(last > 0, last, result));
}

}  // namespace torch_npu::custom
