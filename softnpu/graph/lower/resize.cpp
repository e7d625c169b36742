// Interpolation: along each dimension the product with a sparse matrix, or a choice of elements. Definitions: the
// specification of ONNX, operator Resize.

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

struct Resampling {
  std::string mode;       // nearest, linear, cubic
  std::string positions;  // coordinate_transformation_mode
  std::string nearest;    // nearest_mode
  double cubic = -0.75;   // cubic_coeff_a
  bool excludes_outside = false;
  bool antialias = false;
  double extrapolation = 0;
};

struct Axis {
  int64_t dim;
  int64_t size;
  int64_t wanted;
  double scale;
  double roi_start = 0;
  double roi_end = 1;
};

double source(const Resampling& how, const Axis& axis, int64_t at) {
  const auto x = static_cast<double>(at);
  const auto size = static_cast<double>(axis.size);
  const auto wanted = static_cast<double>(axis.wanted);
  if (how.positions == "asymmetric") return x / axis.scale;
  if (how.positions == "align_corners") return wanted == 1 ? 0 : x * (size - 1) / (size * axis.scale - 1);
  if (how.positions == "pytorch_half_pixel") return wanted > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
  if (how.positions == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (how.positions == "half_pixel_symmetric") {
    const double adjustment = wanted / (size * axis.scale);
    return size / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
  }
  if (how.positions == "tf_crop_and_resize") {
    if (wanted == 1) return 0.5 * (axis.roi_start + axis.roi_end) * (size - 1);
    return axis.roi_start * (size - 1) + x * (axis.roi_end - axis.roi_start) * (size - 1) / (wanted - 1);
  }
  if (how.positions == "half_pixel") return (x + 0.5) / axis.scale - 0.5;
  throw Refused(text("the coordinate mode ", how.positions, " is not implemented"));
}

int64_t nearest(const Resampling& how, double x) {
  if (how.nearest == "floor") return static_cast<int64_t>(std::floor(x));
  if (how.nearest == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (how.nearest == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  return static_cast<int64_t>(std::ceil(x - 0.5));  // round_prefer_floor
}

// Keys, 1981.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

double weight(const Resampling& how, double distance) {
  return how.mode == "cubic" ? cubic(distance, how.cubic) : std::max(0.0, 1 - std::abs(distance));
}

// [wanted, size]: the weight of each element in each result.
std::vector<double> matrix(const Resampling& how, const Axis& axis) {
  check_constant({axis.wanted, axis.size});
  std::vector<double> all(static_cast<size_t>(axis.wanted * axis.size), 0);
  const double stretch = how.antialias && axis.scale < 1 ? axis.scale : 1;
  const double radius = (how.mode == "cubic" ? 2 : 1) / stretch;
  check_constant({axis.wanted}, radius);
  for (int64_t row = 0; row < axis.wanted; ++row) {
    const double x = source(how, axis, row);
    double sum = 0;
    const auto first = static_cast<int64_t>(std::ceil(x - radius));
    const auto last = static_cast<int64_t>(std::floor(x + radius));
    for (const bool is_sum : {true, false}) {
      for (int64_t at = first; at <= last; ++at) {
        const bool is_outside = at < 0 || at >= axis.size;
        if (is_outside && how.excludes_outside) continue;
        const double one = weight(how, (x - static_cast<double>(at)) * stretch);
        if (is_sum) {
          sum += one;
        } else {
          all[row * axis.size + std::clamp<int64_t>(at, 0, axis.size - 1)] += one / sum;
        }
      }
    }
  }
  return all;
}

ValueId resampled(Builder& build, ValueId x, const Resampling& how, const Axis& axis) {
  if (how.mode == "nearest") {
    Ints positions;
    for (int64_t i = 0; i < axis.wanted; ++i) {
      positions.push_back(std::clamp<int64_t>(nearest(how, source(how, axis, i)), 0, axis.size - 1));
    }
    return build.take(x, axis.dim, positions);
  }
  const aclDataType dtype = build.dtype(x);
  const int64_t rank = build.rank(x);
  Ints order = iota(rank);
  std::swap(order[axis.dim], order[rank - 1]);
  const ValueId weights = build.reals(matrix(how, axis), ACL_FLOAT, {axis.wanted, axis.size});
  ValueId y = build.cast(build.transpose(x, order), ACL_FLOAT);
  Ints sizes = build.sizes(y);
  y = build.emit("MatMulV2", {{build.view(y, {-1, axis.size})}, {weights}}, {{"transpose_x2", true}});
  sizes.back() = axis.wanted;
  return build.cast(build.transpose(build.view(y, sizes), order), dtype);
}

// Positions outside of the image have the value of extrapolation.
ValueId extrapolated(Builder& build, ValueId y, const Resampling& how, const Axis& axis) {
  std::vector<double> outside;
  for (int64_t i = 0; i < axis.wanted; ++i) {
    const double x = source(how, axis, i);
    outside.push_back(x < 0 || x > static_cast<double>(axis.size - 1) ? 1 : 0);
  }
  Ints sizes(static_cast<size_t>(build.rank(y)), 1);
  sizes[axis.dim] = axis.wanted;
  const ValueId mask = build.reals(outside, ACL_BOOL, sizes);
  return build.emit("Select", {{mask}, {build.scalar(how.extrapolation, build.dtype(y))}, {y}});
}

void apply(Call& call, const Resampling& how, const std::vector<Axis>& axes) {
  Builder& build = call.build();
  ValueId y = call.in(0);
  for (const Axis& axis : axes) {
    check_constant({axis.wanted});
    if (axis.size == 0 && axis.wanted > 0) throw Refused("an image without elements becomes larger");
    const bool is_unchanged = axis.size == axis.wanted && axis.scale == 1 && how.positions != "tf_crop_and_resize";
    if (!is_unchanged) y = resampled(build, y, how, axis);
  }
  if (how.positions == "tf_crop_and_resize") {
    for (const Axis& axis : axes) y = extrapolated(build, y, how, axis);
  }
  call.set(y);
}

void resize(Call& call) {
  Builder& build = call.build();
  const Ints sizes = build.sizes(call.in(0));
  const auto rank = static_cast<int64_t>(sizes.size());
  Resampling how;
  how.mode = call.words("mode", "nearest");
  how.positions = call.words("coordinate_transformation_mode", call.version() < 11 ? "asymmetric" : "half_pixel");
  how.nearest = call.words("nearest_mode", call.version() < 11 ? "floor" : "round_prefer_floor");
  how.cubic = call.real("cubic_coeff_a", -0.75);
  how.excludes_outside = call.integer("exclude_outside", 0) != 0;
  how.antialias = call.integer("antialias", 0) != 0;
  how.extrapolation = call.real("extrapolation_value", 0);
  if (how.mode == "bilinear") how.mode = "linear";
  if (how.mode != "nearest" && how.mode != "linear" && how.mode != "cubic") {
    throw Refused(text("the mode ", how.mode, " is not implemented"));
  }
  const size_t scales_at = call.version() < 11 ? 1 : 2;
  const size_t roi_at = 1;
  Ints dims = call.has_attribute("axes") ? call.ints("axes") : iota(rank);
  for (int64_t& dim : dims) dim = Builder::index(dim, rank);
  std::vector<double> scales;
  if (call.has(scales_at)) scales = build.reals_of(call.in(scales_at));
  Ints wanted;
  if (scales.empty() && call.has(3)) wanted = build.ints_of(call.in(3));
  if (scales.size() != dims.size() && wanted.size() != dims.size())
    throw Refused("a scale or a size for each axis is needed");
  const std::string policy = call.words("keep_aspect_ratio_policy", "stretch");
  if (scales.empty() && policy != "stretch") {
    double common = policy == "not_larger" ? 1e300 : 0;
    for (size_t i = 0; i < dims.size(); ++i) {
      const double one = static_cast<double>(wanted[i]) / static_cast<double>(sizes[dims[i]]);
      common = policy == "not_larger" ? std::min(common, one) : std::max(common, one);
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      wanted[i] = static_cast<int64_t>(std::floor(common * static_cast<double>(sizes[dims[i]]) + 0.5));
      scales.push_back(common);
    }
  }
  std::vector<double> roi;
  if (how.positions == "tf_crop_and_resize") roi = build.reals_of(call.in(roi_at));
  std::vector<Axis> axes;
  for (size_t i = 0; i < dims.size(); ++i) {
    Axis axis{dims[i], sizes[dims[i]], 0, 1};
    const auto size = static_cast<double>(axis.size);
    axis.wanted = wanted.empty() ? static_cast<int64_t>(std::floor(size * scales[i])) : wanted[i];
    axis.scale = scales.empty() ? static_cast<double>(axis.wanted) / size : scales[i];
    if (!roi.empty()) {
      if (roi.size() != 2 * dims.size()) throw Refused("the region has two numbers for each axis");
      axis.roi_start = roi[i];
      axis.roi_end = roi[dims.size() + i];
    }
    axes.push_back(axis);
  }
  apply(call, how, axes);
}

void upsample(Call& call) {
  Builder& build = call.build();
  Resampling how;
  how.mode = call.words("mode", "nearest");
  if (how.mode == "bilinear") how.mode = "linear";
  how.positions = "asymmetric";
  how.nearest = "floor";
  std::vector<double> scales;
  if (call.has(1)) {
    scales = build.reals_of(call.in(1));
  } else if (const onnx::Attribute* found = call.attribute("scales")) {
    scales.assign(found->reals.begin(), found->reals.end());
  }
  const Ints sizes = build.sizes(call.in(0));
  if (scales.size() != sizes.size()) throw Refused("a scale for each dimension is needed");
  std::vector<Axis> axes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto wanted = static_cast<int64_t>(std::floor(static_cast<double>(sizes[i]) * scales[i]));
    axes.push_back({static_cast<int64_t>(i), sizes[i], wanted, scales[i]});
  }
  apply(call, how, axes);
}

// Of volumes: [N, C, D, H, W] at [N, d, h, w, 3].
void grid_sample_volume(Call& call) {
  Builder& build = call.build();
  const std::string mode = call.words("mode", "linear");
  if (call.words("padding_mode", "zeros") != "zeros") throw Refused("volumes are padded by zeros only");
  if (mode != "linear" && mode != "bilinear" && mode != "nearest") throw Refused("the mode " + mode + " of volumes");
  const ValueId grid = call.in(1);
  const Ints sizes = build.sizes(grid);
  Ints result = {build.dims(call.in(0))[0], build.dims(call.in(0))[1]};
  result.insert(result.end(), sizes.begin() + 1, sizes.end() - 1);
  std::vector<ValueId> coordinates;
  for (int64_t i = 0; i < 3; ++i) {
    // The last coordinate is that of the first dimension.
    ValueId at = build.view(build.slice(grid, 4, 2 - i, 3 - i), {sizes[0], 1, -1});
    const auto size = static_cast<double>(build.dims(call.in(0))[2 + i]);
    const bool is_aligned = call.integer("align_corners", 0) != 0;
    at = build.scaled(build.shifted(at, 1), (is_aligned ? size - 1 : size) / 2);
    if (!is_aligned) at = build.shifted(at, -0.5);
    coordinates.push_back(mode == "nearest" ? build.emit("Round", {{at}}) : at);
  }
  call.set(build.view(sampled(build, call.in(0), coordinates), result));
}

void grid_sample(Call& call) {
  Builder& build = call.build();
  if (build.rank(call.in(0)) == 5) return grid_sample_volume(call);
  std::string mode = call.words("mode", "linear");
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  call.set(build.emit("GridSampler2D", {{call.in(0)}, {call.in(1)}},
                      {{"interpolation_mode", mode},
                       {"padding_mode", call.words("padding_mode", "zeros")},
                       {"align_corners", call.integer("align_corners", 0) != 0}}));
}

constexpr LowerRow kRows[] = {
    {"Resize", resize},
    {"Upsample", upsample},
    {"GridSample", grid_sample},
};

}  // namespace

std::span<const LowerRow> resize_rows() { return kRows; }

}  // namespace softnpu::graph
