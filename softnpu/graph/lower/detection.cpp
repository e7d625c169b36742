// Non-maximum suppression. Definition: the specification of ONNX, opset 11. How many boxes stay decides sizes: boxes
// and scores have to be known.

#include <algorithm>
#include <array>
#include <numeric>

#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

using Box = std::array<float, 4>;  // two corners, the smaller coordinates first

Box read_box(const std::vector<double>& numbers, size_t box, bool has_center) {
  std::array<float, 4> n{};
  for (size_t i = 0; i < 4; ++i) n[i] = static_cast<float>(numbers[4 * box + i]);
  // Center, width and height; or two corners in any order.
  if (has_center) return {n[0] - n[2] / 2, n[1] - n[3] / 2, n[0] + n[2] / 2, n[1] + n[3] / 2};
  return {std::min(n[0], n[2]), std::min(n[1], n[3]), std::max(n[0], n[2]), std::max(n[1], n[3])};
}

float area(const Box& box) { return std::max(box[2] - box[0], 0.0F) * std::max(box[3] - box[1], 0.0F); }

// The intersection's share of the union.
float overlap(const Box& a, const Box& b) {
  const float common = area({std::max(a[0], b[0]), std::max(a[1], b[1]), std::min(a[2], b[2]), std::min(a[3], b[3])});
  const float both = area(a) + area(b) - common;
  return both <= 0 ? 0 : common / both;
}

void non_max_suppression(Call& call) {
  Builder& build = call.build();
  const Ints sizes = build.sizes(call.in(0));
  const Ints classes = build.sizes(call.in(1));
  if (sizes.size() != 3 || sizes[2] != 4 || classes.size() != 3 || classes[0] != sizes[0] || classes[2] != sizes[1]) {
    throw Refused("boxes [N, B, 4] and scores [N, C, B] are needed");
  }
  const std::vector<double> boxes = build.reals_of(call.in(0));
  const std::vector<double> scores = build.reals_of(call.in(1));
  const int64_t limit = call.has(2) ? build.int_of(call.in(2)) : 0;
  const float threshold = call.has(3) ? static_cast<float>(build.real_of(call.in(3))) : 0;
  const bool has_least = call.has(4);
  const double least = has_least ? build.real_of(call.in(4)) : 0;
  const bool has_center = call.integer("center_point_box", 0) != 0;
  const auto count = static_cast<size_t>(sizes[1]);
  Ints chosen;
  for (int64_t row = 0; row < classes[0] * classes[1]; ++row) {
    const int64_t image = row / classes[1];
    const double* score = scores.data() + row * sizes[1];
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return score[a] > score[b]; });
    std::vector<Box> kept;
    for (const size_t one : order) {
      if (static_cast<int64_t>(kept.size()) >= limit || (has_least && score[one] <= least)) break;
      const Box box = read_box(boxes, static_cast<size_t>(image) * count + one, has_center);
      if (std::ranges::any_of(kept, [&](const Box& other) { return overlap(box, other) > threshold; })) continue;
      kept.push_back(box);
      chosen.insert(chosen.end(), {image, row % classes[1], static_cast<int64_t>(one)});
    }
  }
  call.set(build.ints(chosen, {static_cast<int64_t>(chosen.size() / 3), 3}));
}

constexpr LowerRow kRows[] = {{"NonMaxSuppression", non_max_suppression}};

}  // namespace

std::span<const LowerRow> detection_rows() { return kRows; }

}  // namespace softnpu::graph
