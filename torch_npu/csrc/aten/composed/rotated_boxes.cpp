// Boxes with an angle in degrees: their intersections, and those that overlap no better one.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

constexpr aclnn_check::Dtypes kRotated = dtypes({at::kHalf, at::kFloat, at::kDouble});

// Corners of boxes [..., 5], in order around them: x and y, [..., 4] each.
struct Corners {
  Tensor x, y;
};

struct RotatedBoxes {
  Tensor x, y, width, height, angle;

  // By centre and sides, or by two corners, and an angle.
  RotatedBoxes(const Tensor& boxes, bool by_corners) {
    constexpr double kHalfTurn = 180;
    const std::vector<Tensor> c = in_compute_type(boxes).unbind(-1);
    x = by_corners ? (c[0] + c[2]) / 2 : c[0];
    y = by_corners ? (c[1] + c[3]) / 2 : c[1];
    width = by_corners ? c[2] - c[0] : c[2];
    height = by_corners ? c[3] - c[1] : c[3];
    angle = (by_corners ? -c[4] : c[4]) * (std::numbers::pi / kHalfTurn);
  }

  Tensor area() const { return width * height; }

  Corners corners() const {
    const Tensor cos = angle.cos() / 2, sin = angle.sin() / 2;
    const Tensor wx = width * cos, wy = width * sin, hx = -height * sin, hy = height * cos;
    return {at::stack({x - wx - hx, x + wx - hx, x + wx + hx, x - wx + hx}, -1),
            at::stack({y - wy - hy, y + wy - hy, y + wy + hy, y - wy + hy}, -1)};
  }
};

// Whether corners of `a` are in `b`, [..., 4]: by projections on two sides of `b`.
Tensor is_within(const Corners& a, const Corners& b) {
  const auto side = [&](int64_t to) {
    const Tensor dx = b.x.narrow(-1, to, 1) - b.x.narrow(-1, 0, 1), dy = b.y.narrow(-1, to, 1) - b.y.narrow(-1, 0, 1);
    const Tensor along = (a.x - b.x.narrow(-1, 0, 1)) * dx + (a.y - b.y.narrow(-1, 0, 1)) * dy;
    return at::logical_and(along >= 0, along <= dx.square() + dy.square());
  };
  return at::logical_and(side(1), side(3));
}

// The area that pairs of boxes share. All tensors have one size in their first dimensions.
Tensor shared_area(const Corners& a, const Corners& b) {
  constexpr double kFar = 100;  // more than any angle
  const auto edges = [](const Tensor& c) { return at::roll(c, -1, -1) - c; };
  // Crossings of each side of `a`, [..., 4, 1], with each of `b`, [..., 1, 4].
  const Tensor ax = a.x.unsqueeze(-1), ay = a.y.unsqueeze(-1), bx = b.x.unsqueeze(-2), by = b.y.unsqueeze(-2);
  const Tensor ux = edges(a.x).unsqueeze(-1), uy = edges(a.y).unsqueeze(-1);
  const Tensor vx = edges(b.x).unsqueeze(-2), vy = edges(b.y).unsqueeze(-2);
  const Tensor cross = ux * vy - uy * vx;
  const Tensor size = (ux.square() + uy.square()).sqrt() * (vx.square() + vy.square()).sqrt();
  const double epsilon = 8 * (cross.scalar_type() == at::kDouble ? std::numeric_limits<double>::epsilon()
                                                                 : std::numeric_limits<float>::epsilon());
  const Tensor crosses = cross.abs() > size * epsilon;
  const Tensor divisor = at::where(crosses, cross, 1);
  const Tensor t = ((bx - ax) * vy - (by - ay) * vx) / divisor, s = ((bx - ax) * uy - (by - ay) * ux) / divisor;
  const auto within_side = [](const Tensor& at) { return at::logical_and(at >= 0, at <= 1); };
  const Tensor meets = at::logical_and(crosses, at::logical_and(within_side(t), within_side(s)));
  const Tensor x = at::cat({(ax + t * ux).flatten(-2), a.x, b.x}, -1);
  const Tensor y = at::cat({(ay + t * uy).flatten(-2), a.y, b.y}, -1);
  const Tensor is_point = at::cat({meets.flatten(-2), is_within(a, b), is_within(b, a)}, -1);
  // The points are corners of a convex shape: in order around their middle they give its area.
  const Tensor count = is_point.sum(-1, true).clamp_min(1);
  const Tensor dx = x - at::where(is_point, x, 0).sum(-1, true) / count;
  const Tensor dy = y - at::where(is_point, y, 0).sum(-1, true) / count;
  const Tensor order = at::argsort(at::where(is_point, at::atan2(dy, dx), kFar), /*stable=*/true, -1, false);
  const Tensor is_sorted_point = is_point.gather(-1, order);
  const auto sorted = [&](const Tensor& values) {
    const Tensor in_order = values.gather(-1, order);
    return at::where(is_sorted_point, in_order, in_order.narrow(-1, 0, 1));  // the rest repeats the first one
  };
  const Tensor px = sorted(dx), py = sorted(dy);
  const Tensor area = (px * at::roll(py, -1, -1) - py * at::roll(px, -1, -1)).sum(-1).abs() / 2;
  return at::where(is_point.sum(-1) > 2, area, 0);
}

// [B, N, K] of boxes [B, N, 5] and [B, K, 5].
Tensor shared_areas(const RotatedBoxes& boxes, const RotatedBoxes& others) {
  const Corners a = boxes.corners(), b = others.corners();
  const c10::SymInt n = a.x.sym_size(-2), k = b.x.sym_size(-2);
  const auto spread = [&](const Corners& c, int64_t dim) {
    std::vector<c10::SymInt> sizes = {a.x.sym_size(0), n, k, 4};
    return Corners{c.x.unsqueeze(dim).expand_symint(sizes), c.y.unsqueeze(dim).expand_symint(sizes)};
  };
  return shared_area(spread(a, 2), spread(b, 1));
}

void check_rotated(const char* name, const Tensor& boxes, const Tensor& others) {
  Operands(name)
      .take("input", boxes, kRotated)
      .take("query_boxes", others, aclnn_check::dtype_bit(boxes.scalar_type()));
  TORCH_CHECK(boxes.dim() == 3 && others.dim() == 3 && boxes.sym_size(0) == others.sym_size(0) &&
                  boxes.sym_size(2) == 5 && others.sym_size(2) == 5,
              name, ": input is of size ", boxes.sym_sizes(), ", query_boxes of size ", others.sym_sizes(),
              ": [B, N, 5] and [B, K, 5] are taken");
}

Tensor empty_pairs(const Tensor& boxes, const Tensor& others) {
  return at::empty_symint({boxes.sym_size(0), boxes.sym_size(1), others.sym_size(1)}, boxes.options());
}

}  // namespace

Tensor npu_rotated_overlaps(const Tensor& self, const Tensor& query_boxes, bool trans) {
  check_rotated("npu_rotated_overlaps", self, query_boxes);
  if (self.is_meta()) return empty_pairs(self, query_boxes);
  return shared_areas({self, trans}, {query_boxes, trans}).to(self.scalar_type());
}

Tensor npu_rotated_iou(const Tensor& self, const Tensor& query_boxes, bool trans, int64_t mode, bool is_cross,
                       double v_threshold, double e_threshold) {
  constexpr const char* kName = "npu_rotated_iou";
  check_rotated(kName, self, query_boxes);
  TORCH_CHECK(mode == 0 || mode == 1, kName, ": mode is ", mode, ": 0 and 1 are taken");
  TORCH_CHECK_NOT_IMPLEMENTED(is_cross && v_threshold == 0 && e_threshold == 0, kName, ": is_cross is ", is_cross,
                              ", v_threshold ", v_threshold, ", e_threshold ", e_threshold,
                              ": True, 0 and 0 are taken");
  if (self.is_meta()) return empty_pairs(self, query_boxes);
  const RotatedBoxes boxes(self, trans), others(query_boxes, trans);
  const Tensor inter = shared_areas(boxes, others), own = boxes.area().unsqueeze(-1);
  const Tensor whole = mode == 0 ? own + others.area().unsqueeze(-2) - inter : own;
  return at::where(whole > 0, inter / whole, 0).to(self.scalar_type());
}

std::tuple<Tensor, Tensor> npu_nms_rotated(const Tensor& self, const Tensor& scores, double iou_threshold,
                                           double scores_threshold, int64_t max_output_size, int64_t mode) {
  constexpr const char* kName = "npu_nms_rotated";
  Operands(kName).take("input", self, kRotated).take("scores", scores, kRotated);
  TORCH_CHECK(self.dim() == 2 && self.sym_size(1) == 5 && scores.dim() == 1 && scores.sym_size(0) == self.sym_size(0),
              kName, ": input is of size ", self.sym_sizes(), ", scores of size ", scores.sym_sizes(),
              ": [N, 5] and [N] are taken");
  TORCH_CHECK(mode == 0 || mode == 1, kName, ": mode is ", mode, ": 0 and 1 are taken");
  TORCH_CHECK_NOT_IMPLEMENTED(!self.is_meta(), kName, ": the size of the result depends on the elements");
  const RotatedBoxes boxes(self.unsqueeze(0), mode == 1);
  const Tensor inter = shared_areas(boxes, boxes)[0], area = boxes.area()[0];
  const Tensor whole = area.unsqueeze(1) + area - inter;
  const Tensor mask = (at::where(whole > 0, inter / whole, 0) > iou_threshold).to(at::kCPU);
  const Tensor order = at::argsort(scores, /*stable=*/true, 0, /*descending=*/true);
  const Tensor ranked = order.masked_select((scores > scores_threshold).index_select(0, order)).to(at::kCPU);
  const int64_t count = self.size(0), most = max_output_size < 0 ? count : max_output_size;
  std::vector<bool> is_suppressed(static_cast<std::size_t>(count));
  std::vector<int64_t> kept;
  const Tensor table = mask.contiguous();
  const bool* const overlaps = table.const_data_ptr<bool>();
  for (int64_t r = 0; r < ranked.numel() && static_cast<int64_t>(kept.size()) < most; ++r) {
    const int64_t box = ranked[r].item().toLong();
    if (is_suppressed[static_cast<std::size_t>(box)]) continue;
    kept.push_back(box);
    for (int64_t other = 0; other < count; ++other) {
      if (overlaps[box * count + other]) is_suppressed[static_cast<std::size_t>(other)] = true;
    }
  }
  const Tensor selected = at::tensor(kept, at::TensorOptions().dtype(at::kLong)).to(self.device(), at::kInt);
  return {selected, at::full({1}, static_cast<int64_t>(kept.size()), self.options().dtype(at::kInt))};
}

}  // namespace torch_npu::custom
