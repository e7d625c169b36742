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

// Windows over [N, C, H, W]; `pads` before and after each of the last two dimensions.
ValueId max_plane(Builder& build, ValueId x, const Ints& kernel, const Ints& strides, const Ints& dilations,
                  const Ints& pads) {
  return build.emit("softnpuMaxPool", {{x}},
                    {{"ksize", kernel}, {"strides", strides}, {"pads", pads}, {"dilations", dilations}});
}

// Paddings of a window's half and less are the operator's own. Others are added to the image, until the windows fill
// it.
struct MaxPadding {
  Ints own;     // the same before and after
  Ints before;  // of all dimensions
  Ints after;
};

MaxPadding padding_of(const Windows& windows, const Ints& image) {
  MaxPadding created{{}, {0, 0}, {0, 0}};
  for (size_t i = 0; i < image.size(); ++i) {
    const int64_t span = (windows.kernel[i] - 1) * windows.dilations[i] + 1;
    const int64_t needed = (windows.outputs(i, image[i]) - 1) * windows.strides[i] + span;
    const int64_t before = windows.before[i];
    const int64_t behind = needed - image[i] - before;
    const bool is_own = image.size() < 3 && behind <= before && windows.after[i] == before &&
                        2 * before <= windows.kernel[i] && !windows.ceil_mode;
    created.own.push_back(is_own ? before : 0);
    created.before.push_back(is_own ? 0 : before);
    created.after.push_back(is_own ? 0 : behind);
  }
  return created;
}

// All elements of all windows side by side, and the first largest of each window.
void max_pool_with_positions(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  if (!is_floating(build.dtype(x))) throw Refused("the positions of the largest elements of integers");
  const Ints sizes = build.sizes(x);
  const Ints image = spatial(build, x);
  const Windows windows = Windows::read(call, image, call.ints("kernel_shape"));
  Ints counts;
  for (size_t i = 0; i < image.size(); ++i) counts.push_back(windows.outputs(i, image[i]));
  const int64_t planes = sizes[0] * sizes[1];
  const int64_t pixels = element_count(Dims(image));
  const int64_t elements = element_count(Dims(windows.kernel));
  const int64_t places = element_count(Dims(counts));
  Ints taken = windows.positions(image, counts, false);
  for (int64_t& position : taken) position = position < 0 ? pixels : position;  // the padding is one more pixel
  const ValueId flat = padded(build, build.view(x, {planes, pixels}), {0, 0}, {0, 1}, least(build.dtype(x)));
  const ValueId values = build.view(build.take(flat, 1, taken), {planes, places, elements});
  const ValueId largest = build.emit("ArgMaxV2", {{values}, build.host_int(2)}, {{"keep_dims", true}});
  const ValueId y = build.emit("GatherElements", {{values}, {largest}}, {{"dim", int64_t{2}}});
  const bool is_column_major = call.integer("storage_order", 0) != 0;
  const ValueId table = build.broadcast(
      build.ints(windows.positions(image, counts, is_column_major), {1, places, elements}), {planes, places, elements});
  ValueId position = build.emit("GatherElements", {{table}, {largest}}, {{"dim", int64_t{2}}});
  Ints first;
  for (int64_t i = 0; i < planes; ++i) first.push_back(i * pixels);
  position = build.add(position, build.ints(first, {planes, 1, 1}));
  Ints result = {sizes[0], sizes[1]};
  result.insert(result.end(), counts.begin(), counts.end());
  call.set(0, build.view(y, result));
  call.set(1, build.view(position, result));
}

// Values at the positions that a pooling reported, zeros elsewhere.
void max_unpool(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const Ints sizes = build.sizes(x);
  const Ints image = spatial(build, x);
  const Windows windows = Windows::read(call, image, call.ints("kernel_shape"));
  Ints smallest = {sizes[0], sizes[1]};
  for (size_t i = 0; i < image.size(); ++i) {
    smallest.push_back((image[i] - 1) * windows.strides[i] + windows.kernel[i] - windows.before[i] - windows.after[i]);
  }
  const Ints result = call.has(2) ? build.ints_of(call.in(2)) : smallest;
  if (result.size() != sizes.size()) throw Refused("output_shape has another number of dimensions");
  const auto count = [](const Ints& of) { return element_count(Dims(of)); };
  // Positions are those in the smallest result; a larger one has its elements at the same coordinates.
  const ValueId zeros = build.broadcast(build.scalar(0, build.dtype(x)), {count(smallest)});
  const ValueId flat = build.emit("ScatterElements", {{zeros}, {build.view(call.in(1), {-1})}, {build.view(x, {-1})}},
                                  {{"axis", int64_t{0}}, {"reduction", std::string("none")}});
  Ints after;
  for (size_t i = 0; i < result.size(); ++i) after.push_back(result[i] - smallest[i]);
  call.set(padded(build, build.view(flat, smallest), Ints(result.size(), 0), after, 0));
}

// The maximum over one dimension after the other two.
void max_pool(Call& call) {
  if (call.wants(1)) return max_pool_with_positions(call);
  Builder& build = call.build();
  ValueId x = call.in(0);
  const aclDataType dtype = build.dtype(x);
  if (!is_floating(dtype)) x = build.cast(x, ACL_FLOAT);
  const Ints image = spatial(build, x);
  const Windows windows = Windows::read(call, image, call.ints("kernel_shape"));
  const size_t dims = image.size();
  if (dims > 3) throw Refused("windows of 1 to 3 dimensions are implemented");
  const MaxPadding padding = padding_of(windows, image);
  x = padded(build, x, padding.before, padding.after, least(build.dtype(x)));
  const Ints size = build.sizes(x);
  const auto pair = [&](const Ints& values, int64_t otherwise) {
    return dims == 1 ? Ints{otherwise, values[0]} : Ints{values[dims - 2], values[dims - 1]};
  };
  const Ints own = pair(padding.own, 0);
  x = build.view(x, {size[0], dims == 3 ? size[1] * size[2] : size[1], dims == 1 ? 1 : size[dims], size[dims + 1]});
  x = max_plane(build, x, pair(windows.kernel, 1), pair(windows.strides, 1), pair(windows.dilations, 1),
                {own[0], own[0], own[1], own[1]});
  const Ints plane = build.sizes(x);
  if (dims == 3) {
    x = build.view(x, {size[0], size[1], size[2], plane[2] * plane[3]});
    x = max_plane(build, x, {windows.kernel[0], 1}, {windows.strides[0], 1}, {windows.dilations[0], 1}, {0, 0, 0, 0});
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
    {"MaxUnpool", max_unpool},
    {"AveragePool", average_pool},
    {"LpPool", lp_pool},
    {"GlobalAveragePool", global_pool<false>},
    {"GlobalMaxPool", global_pool<true>},
    {"GlobalLpPool", global_lp_pool},
};

}  // namespace

std::span<const LowerRow> pool_rows() { return kRows; }

}  // namespace softnpu::graph
