// Pooling.

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

Ints spatial(Builder& build, ValueId image) {
  const Ints sizes = build.sizes(image);
  if (sizes.size() < 3) throw Refused("an image [N, C, spatial] is needed");
  return {sizes.begin() + 2, sizes.end()};
}

double least(aclDataType dtype) {
  switch (dtype) {
    case ACL_INT8: return std::numeric_limits<int8_t>::min();
    case ACL_UINT8: return 0;
    default: return -std::numeric_limits<double>::infinity();
  }
}

// Windows of one or two dimensions over [N, C, H, W].
ValueId max_plane(Builder& build, ValueId x, const Ints& kernel, const Ints& strides, const Ints& dilations) {
  const auto outer = [](const Ints& pair) { return Ints{1, pair[0], pair[1], 1}; };
  return build.emit_all("MaxPoolWithArgmaxV1", {{x}},
                        {{"ksize", outer(kernel)},
                         {"strides", outer(strides)},
                         {"pads", Ints{1, 0, 0, 1}},
                         {"dilation", outer(dilations)}})[0];
}

// Pads until the windows fill the image, then takes the maximum over one dimension after the other two.
void max_pool(Call& call) {
  Builder& build = call.build();
  if (call.wants(1)) throw Refused("the positions of the largest elements are not implemented");
  ValueId x = call.in(0);
  const aclDataType dtype = build.dtype(x);
  if (!is_floating(dtype)) x = build.cast(x, ACL_FLOAT);
  const Ints image = spatial(build, x);
  const Windows windows = Windows::read(call, image, call.ints("kernel_shape"));
  const size_t dims = image.size();
  if (dims > 3) throw Refused("windows of 1 to 3 dimensions are implemented");
  Ints before = {0, 0};
  Ints after = {0, 0};
  for (size_t i = 0; i < dims; ++i) {
    const int64_t span = (windows.kernel[i] - 1) * windows.dilations[i] + 1;
    const int64_t needed = (windows.outputs(i, image[i]) - 1) * windows.strides[i] + span;
    before.push_back(windows.before[i]);
    after.push_back(needed - image[i] - windows.before[i]);
  }
  x = padded(build, x, before, after, least(build.dtype(x)));
  const Ints size = build.sizes(x);
  const auto pair = [&](const Ints& values) {
    return dims == 1 ? Ints{1, values[0]} : Ints{values[dims - 2], values[dims - 1]};
  };
  const int64_t height = dims == 1 ? 1 : size[dims];
  x = build.view(x, {size[0], dims == 3 ? size[1] * size[2] : size[1], height, size[dims + 1]});
  x = max_plane(build, x, pair(windows.kernel), pair(windows.strides), pair(windows.dilations));
  const Ints plane = build.sizes(x);
  if (dims == 3) {
    x = build.view(x, {size[0], size[1], size[2], plane[2] * plane[3]});
    x = max_plane(build, x, {windows.kernel[0], 1}, {windows.strides[0], 1}, {windows.dilations[0], 1});
  }
  Ints result = {size[0], size[1]};
  for (size_t i = 0; i < dims; ++i) result.push_back(windows.outputs(i, image[i]));
  call.set(build.cast(build.view(x, result), dtype));
}

// The sums of all windows: a convolution of each plane with ones.
ValueId window_sums(Builder& build, ValueId x, const Windows& windows, const Ints& counts) {
  const Ints size = build.sizes(x);
  Ints plane = {size[0] * size[1], 1};
  plane.insert(plane.end(), size.begin() + 2, size.end());
  Ints filter = {1, 1};
  filter.insert(filter.end(), windows.kernel.begin(), windows.kernel.end());
  Windows inner = windows;
  for (size_t i = 0; i < windows.kernel.size(); ++i) {
    const int64_t span = (windows.kernel[i] - 1) * windows.dilations[i] + 1;
    inner.after[i] = (counts[i] - 1) * windows.strides[i] + span - size[2 + i] - windows.before[i];
  }
  const ValueId ones = build.broadcast(build.scalar(1, build.dtype(x)), filter);
  const ValueId sums = convolved(build, build.view(x, plane), ones, kNoValue, inner, 1);
  Ints result = {size[0], size[1]};
  result.insert(result.end(), counts.begin(), counts.end());
  return build.view(sums, result);
}

// How many elements of the image, or of the padded one, each window has.
std::vector<double> window_counts(const Windows& windows, const Ints& image, const Ints& counts, bool with_pads) {
  std::vector<double> all = {1};
  for (size_t dim = 0; dim < image.size(); ++dim) {
    std::vector<double> next;
    for (const double others : all) {
      for (int64_t i = 0; i < counts[dim]; ++i) {
        int64_t within = 0;
        for (int64_t k = 0; k < windows.kernel[dim]; ++k) {
          const int64_t at = i * windows.strides[dim] + k * windows.dilations[dim] - windows.before[dim];
          const bool is_image = at >= 0 && at < image[dim];
          const bool is_padded = at >= -windows.before[dim] && at < image[dim] + windows.after[dim];
          within += (with_pads ? is_padded : is_image) ? 1 : 0;
        }
        next.push_back(others * static_cast<double>(within));
      }
    }
    all = std::move(next);
  }
  return all;
}

void average_pool(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const Ints image = spatial(build, x);
  const Windows windows = Windows::read(call, image, call.ints("kernel_shape"));
  const bool with_pads = call.integer("count_include_pad", 0) != 0;
  Ints counts;
  bool is_plain = image.size() == 2 && windows.before == windows.after && !windows.ceil_mode;
  for (size_t i = 0; i < image.size(); ++i) {
    counts.push_back(windows.outputs(i, image[i]));
    is_plain &= windows.dilations[i] == 1 && 2 * windows.before[i] <= windows.kernel[i];
  }
  if (is_plain) {
    return call.set(
        build.emit("AvgPoolV2", {{x}},
                   {{"ksize", Ints{1, 1, windows.kernel[0], windows.kernel[1]}},
                    {"strides", Ints{1, 1, windows.strides[0], windows.strides[1]}},
                    {"pads", Ints{windows.before[0], windows.before[0], windows.before[1], windows.before[1]}},
                    {"exclusive", !with_pads}}));
  }
  Ints sizes = {1, 1};
  sizes.insert(sizes.end(), counts.begin(), counts.end());
  const ValueId divisors = build.reals(window_counts(windows, image, counts, with_pads), build.dtype(x), sizes);
  call.set(build.div(window_sums(build, x, windows, counts), divisors));
}

void lp_pool(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const Ints image = spatial(build, x);
  const auto p = static_cast<double>(call.integer("p", 2));
  const Windows windows = Windows::read(call, image, call.ints("kernel_shape"));
  Ints counts;
  for (size_t i = 0; i < image.size(); ++i) counts.push_back(windows.outputs(i, image[i]));
  const ValueId powers = build.emit("Pow", {{build.emit("Abs", {{x}})}, build.number(p)});
  call.set(build.emit("Pow", {{window_sums(build, powers, windows, counts)}, build.number(1 / p)}));
}

template <bool is_max>
void global_pool(Call& call) {
  Builder& build = call.build();
  const int64_t dims = static_cast<int64_t>(spatial(build, call.in(0)).size());
  call.set(build.reduce(is_max ? "ReduceMax" : "ReduceMean", call.in(0), iota(dims, 2), true));
}

void global_lp_pool(Call& call) {
  Builder& build = call.build();
  const int64_t dims = static_cast<int64_t>(spatial(build, call.in(0)).size());
  const auto p = static_cast<double>(call.integer("p", 2));
  const ValueId powers = build.emit("Pow", {{build.emit("Abs", {{call.in(0)}})}, build.number(p)});
  call.set(build.emit("Pow", {{build.reduce("ReduceSum", powers, iota(dims, 2), true)}, build.number(1 / p)}));
}

constexpr LowerRow kRows[] = {
    {"MaxPool", max_pool},
    {"AveragePool", average_pool},
    {"LpPool", lp_pool},
    {"GlobalAveragePool", global_pool<false>},
    {"GlobalMaxPool", global_pool<true>},
    {"GlobalLpPool", global_lp_pool},
};

}  // namespace

std::span<const LowerRow> pool_rows() { return kRows; }

}  // namespace softnpu::graph
