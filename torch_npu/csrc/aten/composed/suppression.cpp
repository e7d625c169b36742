// Non-maximum suppression: overlaps are computed on the device, boxes are chosen one after the other on the host.

#include <ATen/Functions.h>
#include <ATen/core/Tensor.h>

#include <cstring>

#include "aten/composed/operands.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

using at::Tensor;

constexpr aclnn_check::Dtypes kScored = dtypes({at::kHalf, at::kFloat, at::kDouble});

// [n, n] of boxes [n, 4] by any two opposite corners.
Tensor overlaps_of(const Tensor& boxes) {
  const std::vector<Tensor> c = in_compute_type(boxes).unbind(1);
  const Tensor x1 = at::minimum(c[0], c[2]), x2 = at::maximum(c[0], c[2]);
  const Tensor y1 = at::minimum(c[1], c[3]), y2 = at::maximum(c[1], c[3]);
  const Tensor area = (x2 - x1) * (y2 - y1);
  const auto across = [](const Tensor& a) { return a.unsqueeze(1); };
  const Tensor inter = (at::minimum(x2, across(x2)) - at::maximum(x1, across(x1))).clamp_min(0) *
                       (at::minimum(y2, across(y2)) - at::maximum(y1, across(y1))).clamp_min(0);
  const Tensor united = area + across(area) - inter;
  return at::where(united > 0, inter / united, 0);
}

// Which of the boxes in `order` are kept, in that order, at most `most`.
std::vector<int64_t> kept_boxes(const Tensor& overlaps_too_much, const Tensor& order, int64_t most) {
  const Tensor mask = overlaps_too_much.to(at::kCPU).contiguous(), ranks = order.to(at::kCPU, at::kLong).contiguous();
  const int64_t count = mask.size(0);
  const bool* const rows = mask.const_data_ptr<bool>();
  std::vector<bool> is_suppressed(static_cast<std::size_t>(count));
  std::vector<int64_t> kept;
  const int64_t* const ranked = ranks.const_data_ptr<int64_t>();
  for (int64_t r = 0; r < ranks.numel() && static_cast<int64_t>(kept.size()) < most; ++r) {
    const int64_t box = ranked[r];
    if (is_suppressed[static_cast<std::size_t>(box)]) continue;
    kept.push_back(box);
    for (int64_t other = 0; other < count; ++other) {
      if (rows[box * count + other]) is_suppressed[static_cast<std::size_t>(other)] = true;
    }
  }
  return kept;
}

Tensor as_tensor(const std::vector<int64_t>& numbers, const Tensor& like) {
  return at::tensor(numbers, at::TensorOptions().dtype(at::kLong)).to(like.device());
}

}  // namespace

std::tuple<Tensor, Tensor> npu_nms_v4(const Tensor& self, const Tensor& scores, const at::Scalar& max_output_size,
                                      const Tensor& iou_threshold, const Tensor& scores_threshold,
                                      bool /*pad_to_max_output_size*/) {
  constexpr const char* kName = "npu_nms_v4";
  Operands(kName)
      .take("input", self, kScored)
      .take("scores", scores, kScored)
      .take("iou_threshold", iou_threshold, kScored)
      .take("scores_threshold", scores_threshold, kScored);
  const int64_t most = max_output_size.toLong();
  TORCH_CHECK(self.dim() == 2 && self.sym_size(1) == 4 && scores.dim() == 1 && scores.sym_size(0) == self.sym_size(0) &&
                  iou_threshold.sym_numel() == 1 && scores_threshold.sym_numel() == 1 && most >= 0,
              kName, ": boxes of size ", self.sym_sizes(), ", scores of size ", scores.sym_sizes(),
              ", max_output_size ", most, ": [n, 4], [n], no negative number, and thresholds of one number are taken");
  // The result is as long as asked for; zeros stand in for what is missing.
  const Tensor selected = at::zeros({most}, self.options().dtype(at::kInt));
  const Tensor valid = at::zeros({}, self.options().dtype(at::kInt));
  if (self.is_meta()) return {selected, valid};
  const Tensor order = at::argsort(scores, /*stable=*/true, 0, /*descending=*/true);
  const Tensor ranked = order.masked_select((scores > scores_threshold).index_select(0, order));
  const std::vector<int64_t> kept = kept_boxes(overlaps_of(self) > iou_threshold, ranked, most);
  const auto count = static_cast<int64_t>(kept.size());
  selected.narrow(0, 0, count).copy_(as_tensor(kept, self));
  valid.fill_(count);
  return {selected, valid};
}

std::tuple<Tensor, Tensor, Tensor> npu_nms_with_mask(const Tensor& input, const at::Scalar& iou_threshold) {
  constexpr const char* kName = "npu_nms_with_mask";
  Operands(kName).take("input", input, kScored);
  TORCH_CHECK(input.dim() == 2 && (input.sym_size(1) == 8 || input.sym_size(1) == 5), kName, ": input is of size ",
              input.sym_sizes(), ": [n, 8] or [n, 5] is taken, boxes and scores in the first five columns");
  const Tensor boxes = input.narrow(1, 0, 5).contiguous();
  const Tensor indices = at::arange(input.sym_size(0), input.options().dtype(at::kInt));
  const Tensor mask = at::zeros_symint({input.sym_size(0)}, input.options().dtype(at::kByte));
  if (input.is_meta()) return {boxes, indices, mask};
  // The boxes are sorted by their scores, as proposals are.
  const std::vector<int64_t> kept =
      kept_boxes(overlaps_of(boxes.narrow(1, 0, 4)) > iou_threshold, indices, boxes.size(0));
  mask.index_fill_(0, as_tensor(kept, input), 1);
  return {boxes, indices, mask};
}

// For each image and class the best boxes that do not overlap, then the best of all classes.
std::tuple<Tensor, Tensor, Tensor, Tensor> npu_batch_nms(const Tensor& self, const Tensor& scores,
                                                         double score_threshold, double iou_threshold,
                                                         int64_t max_size_per_class, int64_t max_total_size,
                                                         bool change_coordinate_frame, bool transpose_box) {
  constexpr const char* kName = "npu_batch_nms";
  Operands(kName).take("input", self, kScored).take("scores", scores, aclnn_check::dtype_bit(self.scalar_type()));
  TORCH_CHECK_NOT_IMPLEMENTED(!change_coordinate_frame && !transpose_box, kName,
                              ": change_coordinate_frame or transpose_box is True: False is taken");
  TORCH_CHECK(self.dim() == 4 && scores.dim() == 3 && self.sym_size(3) == 4 && self.sym_size(0) == scores.sym_size(0) &&
                  self.sym_size(1) == scores.sym_size(1) &&
                  (self.sym_size(2) == 1 || self.sym_size(2) == scores.sym_size(2)) && max_size_per_class > 0 &&
                  max_total_size > 0,
              kName, ": boxes of size ", self.sym_sizes(), " and scores of size ", scores.sym_sizes(), ", numbers ",
              max_size_per_class, " and ", max_total_size,
              ": [B, n, q, 4] and [B, n, classes] are taken, where q is 1 or the classes, and positive numbers");
  const c10::SymInt images = self.sym_size(0);
  const Tensor out_boxes = at::zeros_symint({images, max_total_size, 4}, self.options());
  const Tensor out_scores = at::zeros_symint({images, max_total_size}, self.options());
  const Tensor out_classes = at::zeros_symint({images, max_total_size}, self.options());
  const Tensor counts = at::zeros_symint({images}, self.options().dtype(at::kInt));
  if (self.is_meta()) return {out_boxes, out_scores, out_classes, counts};
  for (int64_t b = 0; b < self.size(0); ++b) {
    std::vector<Tensor> boxes, values, classes;
    for (int64_t c = 0; c < scores.size(2); ++c) {
      const Tensor candidates = self[b].select(1, self.size(2) == 1 ? 0 : c), value = scores[b].select(1, c);
      const Tensor order = at::argsort(value, /*stable=*/true, 0, /*descending=*/true);
      const Tensor ranked = order.masked_select((value > score_threshold).index_select(0, order));
      const Tensor kept =
          as_tensor(kept_boxes(overlaps_of(candidates) > iou_threshold, ranked, max_size_per_class), self);
      boxes.push_back(candidates.index_select(0, kept));
      values.push_back(value.index_select(0, kept));
      classes.push_back(at::full({kept.size(0)}, c, self.options()));
    }
    const Tensor all = at::cat(values);
    const Tensor best = at::argsort(all, /*stable=*/true, 0, /*descending=*/true).slice(0, 0, max_total_size);
    const int64_t count = best.size(0);
    out_boxes[b].narrow(0, 0, count).copy_(at::cat(boxes).index_select(0, best));
    out_scores[b].narrow(0, 0, count).copy_(all.index_select(0, best));
    out_classes[b].narrow(0, 0, count).copy_(at::cat(classes).index_select(0, best));
    counts[b].fill_(count);
  }
  return {out_boxes, out_scores, out_classes, counts};
}

}  // namespace torch_npu::custom
