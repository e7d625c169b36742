// Boxes as differences from anchors, and back; cells of a grid that answer for boxes.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <c10/util/MathConstants.h>

#include <array>
#include <cmath>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;
using Four = std::array<double, 4>;

constexpr aclnn_check::Dtypes kCoded = dtypes({at::kHalf, at::kFloat, at::kDouble});

void check_pairs(const char* name, const char* first, const Tensor& a, const char* second, const Tensor& b) {
  Operands(name).take(first, a, kCoded).take(second, b, kCoded);
  TORCH_CHECK(a.dim() == 2 && a.sym_size(1) == 4 && a.sym_sizes() == b.sym_sizes(), name, ": ", first, " of size ",
              a.sym_sizes(), ", ", second, " of size ", b.sym_sizes(), ": both are [n, 4]");
}

// Boxes [n, 4] by corners, both of which belong to them.
struct Extent {
  Tensor x, y, w, h;

  explicit Extent(const Tensor& boxes) {
    const std::vector<Tensor> c = in_compute_type(boxes).unbind(1);
    x = (c[0] + c[2]) * 0.5, y = (c[1] + c[3]) * 0.5;
    w = c[2] - c[0] + 1, h = c[3] - c[1] + 1;
  }
};

// Boxes with an angle in degrees, [b, 5, n], by corners.
struct Rotated {
  Tensor x, y, w, h, slope;

  explicit Rotated(const Tensor& boxes) {
    const std::vector<Tensor> c = in_compute_type(boxes).unbind(1);
    x = (c[0] + c[2]) * 0.5, y = (c[1] + c[3]) * 0.5;
    w = c[2] - c[0], h = c[3] - c[1];
    slope = at::tan(c[4] * (c10::pi<double> / 180));
  }
};

void check_rotated(const char* name, const Tensor& anchors, const char* role, const Tensor& other,
                   const Tensor& weight) {
  Operands(name).take("input", anchors, kCoded).take(role, other, kCoded).take("weight", weight, kCoded);
  TORCH_CHECK(anchors.dim() == 3 && anchors.sym_size(1) == 5 && anchors.sym_sizes() == other.sym_sizes() &&
                  weight.dim() == 1 && weight.sym_size(0) == 5,
              name, ": input of size ", anchors.sym_sizes(), ", ", role, " of size ", other.sym_sizes(),
              ", weight of size ", weight.sym_sizes(), ": [b, 5, n] twice, and [5]");
}

}  // namespace

Tensor npu_bounding_box_encode(const Tensor& anchor_box, const Tensor& ground_truth_box, double means0, double means1,
                               double means2, double means3, double stds0, double stds1, double stds2, double stds3) {
  check_pairs("npu_bounding_box_encode", "anchor_box", anchor_box, "ground_truth_box", ground_truth_box);
  const Extent a(anchor_box), g(ground_truth_box);
  const Tensor x = (g.x - a.x) / a.w, y = (g.y - a.y) / a.h, w = at::log(g.w / a.w), h = at::log(g.h / a.h);
  return at::stack({(x - means0) / stds0, (y - means1) / stds1, (w - means2) / stds2, (h - means3) / stds3}, 1)
      .to(anchor_box.scalar_type());
}

Tensor npu_bounding_box_decode(const Tensor& rois, const Tensor& deltas, double means0, double means1, double means2,
                               double means3, double stds0, double stds1, double stds2, double stds3,
                               at::IntArrayRef max_shape, double wh_ratio_clip) {
  constexpr const char* kName = "npu_bounding_box_decode";
  check_pairs(kName, "rois", rois, "deltas", deltas);
  TORCH_CHECK(max_shape.size() == 2 && wh_ratio_clip > 0, kName, ": max_shape is ", max_shape, ", wh_ratio_clip ",
              wh_ratio_clip, ": height and width, and a positive number are taken");
  const Extent a(rois);
  const double most = std::abs(std::log(wh_ratio_clip));
  const std::vector<Tensor> d = in_compute_type(deltas).unbind(1);
  const Tensor w = a.w * at::exp((d[2] * stds2 + means2).clamp(-most, most));
  const Tensor h = a.h * at::exp((d[3] * stds3 + means3).clamp(-most, most));
  const Tensor x = a.x + a.w * (d[0] * stds0 + means0), y = a.y + a.h * (d[1] * stds1 + means1);
  const auto right = static_cast<double>(max_shape[1] - 1), bottom = static_cast<double>(max_shape[0] - 1);
  return at::stack({(x - w * 0.5 + 0.5).clamp(0, right), (y - h * 0.5 + 0.5).clamp(0, bottom),
                    (x + w * 0.5 - 0.5).clamp(0, right), (y + h * 0.5 - 0.5).clamp(0, bottom)},
                   1)
      .to(rois.scalar_type());
}

Tensor npu_rotated_box_encode(const Tensor& self, const Tensor& gt_bboxes, const Tensor& weight) {
  check_rotated("npu_rotated_box_encode", self, "gt_bboxes", gt_bboxes, weight);
  const Rotated a(self), g(gt_bboxes);
  const Tensor coded =
      at::stack({(g.x - a.x) / a.w, (g.y - a.y) / a.h, at::log(g.w / a.w), at::log(g.h / a.h), g.slope - a.slope}, 1);
  return (coded * in_compute_type(weight).reshape({1, 5, 1})).to(self.scalar_type());
}

Tensor npu_rotated_box_decode(const Tensor& self, const Tensor& deltas, const Tensor& weight) {
  check_rotated("npu_rotated_box_decode", self, "deltas", deltas, weight);
  const Rotated a(self);
  const std::vector<Tensor> d = (in_compute_type(deltas) / in_compute_type(weight).reshape({1, 5, 1})).unbind(1);
  const Tensor x = a.x + d[0] * a.w, y = a.y + d[1] * a.h, w = a.w * at::exp(d[2]), h = a.h * at::exp(d[3]);
  const Tensor angle = at::atan(a.slope + d[4]) * (180 / c10::pi<double>);
  return at::stack({x - w * 0.5, y - h * 0.5, x + w * 0.5, y + h * 0.5, angle}, 1).to(self.scalar_type());
}

Tensor npu_yolo_boxes_encode(const Tensor& self, const Tensor& gt_bboxes, const Tensor& stride,
                             bool /*performance_mode*/) {
  constexpr double kLeast = 1e-6;
  constexpr const char* kName = "npu_yolo_boxes_encode";
  check_pairs(kName, "input", self, "gt_bboxes", gt_bboxes);
  Operands(kName).take("input", self).take("stride", stride, kIndexes);
  TORCH_CHECK(stride.dim() == 1 && stride.sym_size(0) == self.sym_size(0), kName, ": stride of size ",
              stride.sym_sizes(), " for boxes of size ", self.sym_sizes(), ": one number a box is taken");
  const std::vector<Tensor> a = in_compute_type(self).unbind(1), g = in_compute_type(gt_bboxes).unbind(1);
  const auto cell = [&](std::size_t low, std::size_t high) {
    const Tensor distance = (g[low] + g[high]) * 0.5 - (a[low] + a[high]) * 0.5;
    return (distance / stride + 0.5).clamp(kLeast, 1 - kLeast);
  };
  const auto size = [&](std::size_t low, std::size_t high) {
    return at::log(((g[high] - g[low]) / (a[high] - a[low])).clamp_min(kLeast));
  };
  return at::stack({cell(0, 2), cell(1, 3), size(0, 2), size(1, 3)}, 1).to(self.scalar_type());
}

Tensor npu_anchor_response_flags(const Tensor& self, at::IntArrayRef featmap_size, at::IntArrayRef stride,
                                 int64_t num_base_anchors) {
  constexpr const char* kName = "npu_anchor_response_flags";
  Operands(kName).take("input", self, kCoded);
  TORCH_CHECK(self.dim() == 2 && self.sym_size(1) == 4, kName, ": input of size ", self.sym_sizes(),
              ": [n, 4] is taken");
  TORCH_CHECK(featmap_size[0] > 0 && featmap_size[1] > 0 && stride[0] > 0 && stride[1] > 0 && num_base_anchors > 0,
              kName, ": featmap_size is ", featmap_size, ", stride ", stride, ", num_base_anchors ", num_base_anchors,
              ": positive numbers are taken");
  const int64_t cells = featmap_size[0] * featmap_size[1];
  const std::vector<Tensor> c = in_compute_type(self).unbind(1);
  const Tensor x = ((c[0] + c[2]) * 0.5 / stride[0]).floor().to(at::kLong);
  const Tensor y = ((c[1] + c[3]) * 0.5 / stride[1]).floor().to(at::kLong);
  const Tensor cell = y * featmap_size[1] + x;
  // A box whose centre is in no cell marks one that is cut off.
  const Tensor within = at::logical_and(cell >= 0, cell < cells);
  const Tensor marks = at::zeros({cells + 1}, self.options().dtype(at::kByte));
  return marks.index_fill_(0, at::where(within, cell, cells), 1)
      .narrow(0, 0, cells)
      .repeat_interleave(num_base_anchors);
}

}  // namespace torch_npu::custom
