// Overlaps of boxes, with gradients: IoU, GIoU, DIoU, CIoU.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>
#include <c10/util/MathConstants.h>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

enum class Measure { kGeneralized, kDistance, kComplete };

constexpr double kEpsilon = 1e-10;
constexpr aclnn_check::Dtypes kBoxes = dtypes({at::kHalf, at::kFloat, at::kDouble});

// Corners, sides and centres of boxes [4, n].
struct Boxes {
  Tensor x1, y1, x2, y2, w, h, cx, cy;

  Boxes(const Tensor& boxes, bool has_sides) {
    const Tensor a = boxes[0], b = boxes[1], c = boxes[2], d = boxes[3];
    if (has_sides) {
      x1 = a - c / 2, y1 = b - d / 2, x2 = a + c / 2, y2 = b + d / 2;
      w = c, h = d, cx = a, cy = b;
    } else {
      x1 = a, y1 = b, x2 = c, y2 = d;
      w = c - a, h = d - b, cx = (a + c) / 2, cy = (b + d) / 2;
    }
  }
};

// The measure, and the difference of arctangents for the complete one, in the type of computation.
std::vector<Tensor> measured(Measure measure, const Tensor& boxes, const Tensor& targets, bool has_sides, bool crosses,
                             int64_t mode) {
  // Crossed: [m, n], a row for each target.
  const Boxes b(boxes, has_sides), g(crosses ? targets.unsqueeze(-1) : targets, has_sides);
  const Tensor inter = (at::minimum(b.x2, g.x2) - at::maximum(b.x1, g.x1)).clamp_min(0) *
                       (at::minimum(b.y2, g.y2) - at::maximum(b.y1, g.y1)).clamp_min(0);
  const Tensor united = b.w * b.h + g.w * g.h - inter + kEpsilon;
  const Tensor overlap = inter / (mode == 1 ? (g.w * g.h + kEpsilon).expand_as(united) : united);
  const Tensor width = at::maximum(b.x2, g.x2) - at::minimum(b.x1, g.x1);
  const Tensor height = at::maximum(b.y2, g.y2) - at::minimum(b.y1, g.y1);
  if (measure == Measure::kGeneralized) {
    const Tensor hull = width * height + kEpsilon;
    return {overlap - (hull - united) / hull};
  }
  const Tensor distance =
      ((b.cx - g.cx).square() + (b.cy - g.cy).square()) / (width.square() + height.square() + kEpsilon);
  if (measure == Measure::kDistance) return {overlap - distance};
  const Tensor angle = at::atan(g.w / g.h) - at::atan(b.w / b.h);
  const Tensor v = angle.square() * (4 / (c10::pi<double> * c10::pi<double>));
  return {overlap - distance - v * v / (1 + kEpsilon - overlap + v), angle};
}

void check_boxes(const char* name, const char* role, const Tensor& boxes, const Tensor& targets, bool crosses,
                 int64_t mode) {
  Operands(name).take(role, boxes, kBoxes).take("gtboxes", targets, kBoxes);
  TORCH_CHECK(boxes.dim() == 2 && targets.dim() == 2 && boxes.sym_size(0) == 4 && targets.sym_size(0) == 4 &&
                  (crosses || boxes.sym_size(1) == targets.sym_size(1)),
              name, ": boxes of size ", boxes.sym_sizes(), " and ", targets.sym_sizes(),
              ": both are [4, n], of one n without is_cross");
  TORCH_CHECK(mode == 0 || mode == 1, name, ": mode is ", mode, ": 0 (IoU) and 1 (IoF) are taken");
}

// [1, n], or [m, n] of crossed boxes.
std::vector<Tensor> overlaps(const char* name, Measure measure, const Tensor& boxes, const Tensor& targets,
                             bool has_sides, bool crosses, int64_t mode) {
  check_boxes(name, "input", boxes, targets, crosses, mode);
  std::vector<Tensor> found =
      measured(measure, in_compute_type(boxes), in_compute_type(targets), has_sides, crosses, mode);
  for (Tensor& tensor : found) {
    if (!crosses) tensor = tensor.unsqueeze(0);
  }
  found[0] = found[0].to(at::result_type(boxes, targets));
  return found;
}

std::tuple<Tensor, Tensor> backward(const char* name, Measure measure, const Tensor& grad, const Tensor& boxes,
                                    const Tensor& targets, bool has_sides, bool crosses, int64_t mode) {
  check_boxes(name, "bboxes", boxes, targets, crosses, mode);
  Operands(name).take("bboxes", boxes).take("grad", grad, kBoxes);
  const Tensor widened = in_compute_type(crosses ? grad : grad.reshape_symint({boxes.sym_size(1)}));
  const auto function = [&](const std::vector<Tensor>& inputs) {
    return std::vector<Tensor>{measured(measure, inputs[0], inputs[1], has_sides, crosses, mode)[0]};
  };
  const std::vector<Tensor> found =
      gradients_of(function, {in_compute_type(boxes), in_compute_type(targets)}, {widened});
  return {found[0].to(boxes.scalar_type()), found[1].to(targets.scalar_type())};
}

void check_giou(bool trans, bool is_cross, int64_t mode) {
  TORCH_CHECK(trans && !is_cross && mode == 0, "npu_giou: trans is ", trans, ", is_cross ", is_cross, ", mode ", mode,
              ": True, False and 0 are taken");
}

Tensor crossed_iou(const char* name, const Tensor& boxes, const Tensor& targets, int64_t mode) {
  constexpr double kAreaEpsilon = 0.01;
  Operands(name).take("bboxes", boxes, kBoxes).take("gtboxes", targets, kBoxes);
  TORCH_CHECK(boxes.dim() == 2 && targets.dim() == 2 && boxes.sym_size(1) == 4 && targets.sym_size(1) == 4, name,
              ": boxes of size ", boxes.sym_sizes(), " and ", targets.sym_sizes(), ": both are [n, 4]");
  TORCH_CHECK(mode == 0 || mode == 1, name, ": mode is ", mode, ": 0 (IoU) and 1 (IoF) are taken");
  const Boxes b(in_compute_type(boxes).t(), false), g(in_compute_type(targets).t().unsqueeze(-1), false);
  const Tensor inter = (at::minimum(b.x2, g.x2) - at::maximum(b.x1, g.x1)).clamp_min(0) *
                       (at::minimum(b.y2, g.y2) - at::maximum(b.y1, g.y1)).clamp_min(0);
  const Tensor area = mode == 1 ? g.w * g.h + at::zeros_like(inter) : g.w * g.h + b.w * b.h - inter;
  return (inter / (area + kAreaEpsilon)).to(boxes.scalar_type());
}

}  // namespace

Tensor npu_iou(const Tensor& bboxes, const Tensor& gtboxes, int64_t mode) {
  return crossed_iou("npu_iou", bboxes, gtboxes, mode);
}

Tensor npu_ptiou(const Tensor& bboxes, const Tensor& gtboxes, int64_t mode) {
  return crossed_iou("npu_ptiou", bboxes, gtboxes, mode);
}

// [n, 1], where the others give [1, n].
Tensor npu_giou(const Tensor& self, const Tensor& gtboxes, bool trans, bool is_cross, int64_t mode) {
  check_giou(trans, is_cross, mode);
  return overlaps("npu_giou", Measure::kGeneralized, self, gtboxes, trans, is_cross, mode)[0].t().contiguous();
}

std::tuple<Tensor, Tensor> npu_giou_backward(const Tensor& grad, const Tensor& bboxes, const Tensor& gtboxes,
                                             bool trans, bool is_cross, int64_t mode) {
  check_giou(trans, is_cross, mode);
  return backward("npu_giou_backward", Measure::kGeneralized, grad, bboxes, gtboxes, trans, is_cross, mode);
}

Tensor npu_diou(const Tensor& self, const Tensor& gtboxes, bool trans, bool is_cross, int64_t mode) {
  return overlaps("npu_diou", Measure::kDistance, self, gtboxes, trans, is_cross, mode)[0];
}

std::tuple<Tensor, Tensor> npu_diou_backward(const Tensor& grad, const Tensor& bboxes, const Tensor& gtboxes,
                                             bool trans, bool is_cross, int64_t mode) {
  return backward("npu_diou_backward", Measure::kDistance, grad, bboxes, gtboxes, trans, is_cross, mode);
}

std::tuple<Tensor, Tensor> _npu_ciou(const Tensor& self, const Tensor& gtboxes, bool trans, bool is_cross, int64_t mode,
                                     bool /*atan_sub_flag*/) {
  const std::vector<Tensor> found = overlaps("_npu_ciou", Measure::kComplete, self, gtboxes, trans, is_cross, mode);
  return {found[0], found[1]};
}

Tensor npu_ciou(const Tensor& self, const Tensor& gtboxes, bool trans, bool is_cross, int64_t mode,
                bool /*atan_sub_flag*/) {
  return overlaps("npu_ciou", Measure::kComplete, self, gtboxes, trans, is_cross, mode)[0];
}

std::tuple<Tensor, Tensor> npu_ciou_backward(const Tensor& grad, const Tensor& bboxes, const Tensor& gtboxes,
                                             const std::optional<Tensor>& /*atan_sub*/, bool trans, bool is_cross,
                                             int64_t mode) {
  return backward("npu_ciou_backward", Measure::kComplete, grad, bboxes, gtboxes, trans, is_cross, mode);
}

}  // namespace torch_npu::custom
