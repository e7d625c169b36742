// Sampling of images at computed positions, and its inverse. Definitions: the specification of ONNX, opset 22.

#include <algorithm>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {

ValueId sampled(Builder& build, ValueId x, const std::vector<ValueId>& coordinates, const char* combine) {
  const Ints sizes = build.sizes(x);
  const size_t dims = coordinates.size();
  const int64_t points = build.dims(coordinates[0])[2];
  Ints flat = {sizes[0], sizes[1], -1};
  std::vector<ValueId> low;
  std::vector<ValueId> share;  // of the pixel above
  for (const ValueId at : coordinates) {
    low.push_back(build.emit("Floor", {{at}}));
    share.push_back(build.sub(at, low.back()));
  }
  x = build.view(x, flat);
  ValueId sum = kNoValue;
  for (size_t corner = 0; corner < size_t{1} << dims; ++corner) {
    ValueId weight = kNoValue;
    ValueId index = kNoValue;
    for (size_t i = 0; i < dims; ++i) {
      const bool is_high = (corner >> i & 1) != 0;
      const auto size = sizes[2 + i];
      ValueId pixel = is_high ? build.shifted(low[i], 1) : low[i];
      ValueId part = is_high ? share[i] : build.shifted(build.emit("Neg", {{share[i]}}), 1);
      const ValueId is_below = build.emit("Less", {{pixel}, build.number(0)});
      const ValueId is_above = build.emit("Greater", {{pixel}, build.number(static_cast<double>(size - 1))});
      const ValueId is_outside = build.emit("LogicalOr", {{is_below}, {is_above}});
      part = build.emit("Select", {{is_outside}, {build.scalar(0, build.dtype(part))}, {part}});
      pixel = build.emit("Maximum", {{pixel}, build.number(0)});
      pixel = build.emit("Minimum", {{pixel}, build.number(static_cast<double>(size - 1))});
      const ValueId whole = build.cast(pixel, ACL_INT64);
      weight = weight == kNoValue ? part : build.mul(weight, part);
      index = index == kNoValue ? whole : build.add(build.scaled(index, static_cast<double>(size)), whole);
    }
    const ValueId positions = build.broadcast(index, {sizes[0], sizes[1], points});
    const ValueId values = build.emit("GatherElements", {{x}, {positions}}, {{"dim", int64_t{2}}});
    const ValueId term = build.mul(values, weight);
    sum = sum == kNoValue ? term : build.emit(combine, {{sum}, {term}});
  }
  return sum;
}

namespace {

// The middle of each dimension, or zeros around it.
void center_crop_pad(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const int64_t rank = build.rank(x);
  Ints axes = call.has_attribute("axes") ? call.ints("axes") : iota(rank);
  const Ints wanted = build.ints_of(call.in(1));
  if (wanted.size() != axes.size()) throw Refused("the sizes and axes differ in number");
  Ints before(static_cast<size_t>(rank), 0);
  Ints after = before;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = Builder::index(axes[i], rank);
    check_constant({wanted[i]});
    const int64_t missing = wanted[i] - build.dims(x)[axis];
    before[axis] = missing < 0 ? -(-missing / 2) : missing / 2;
    after[axis] = missing - before[axis];
  }
  call.set(padded(build, x, before, after, 0));
}

// Blocks [N, C elements, blocks] are added up where they were in the image.
void col2im(Call& call) {
  Builder& build = call.build();
  const Ints image = build.ints_of(call.in(1));
  const Ints block = build.ints_of(call.in(2));
  check_constant(image);
  check_constant(block);
  const Windows windows = Windows::read(call, image, block);
  Ints counts;
  for (size_t i = 0; i < image.size(); ++i) counts.push_back(windows.outputs(i, image[i]));
  const Ints sizes = build.sizes(call.in(0));
  const int64_t elements = element_count(Dims(block));
  const int64_t blocks = element_count(Dims(counts));
  if (sizes.size() != 3 || sizes[1] % elements != 0 || sizes[2] != blocks) {
    throw Refused(text("columns [N, C ", elements, ", ", blocks, "] are needed"));
  }
  const int64_t pixels = element_count(Dims(image));
  const int64_t planes = sizes[0] * sizes[1] / elements;
  const Ints by_window = windows.positions(image, counts, false);
  Ints positions;
  for (int64_t element = 0; element < elements; ++element) {
    for (int64_t window = 0; window < blocks; ++window) {
      const int64_t position = by_window[window * elements + element];
      positions.push_back(position < 0 ? pixels : position);  // one more pixel takes what falls on the padding
    }
  }
  const ValueId columns = build.view(call.in(0), {planes, elements * blocks});
  const ValueId zeros = build.broadcast(build.scalar(0, build.dtype(columns)), {planes, pixels + 1});
  const ValueId index = build.broadcast(build.ints(positions, {1, elements * blocks}), {planes, elements * blocks});
  const ValueId sums = build.emit("ScatterElements", {{zeros}, {index}, {columns}},
                                  {{"axis", int64_t{1}}, {"reduction", std::string("add")}});
  Ints result = {sizes[0], sizes[1] / elements};
  result.insert(result.end(), image.begin(), image.end());
  call.set(build.view(build.slice(sums, 1, 0, pixels), result));
}

// The transformed coordinates of each pixel, in [-1, 1].
void affine_grid(Call& call) {
  Builder& build = call.build();
  const Ints sizes = build.ints_of(call.in(1));  // [N, C, spatial]
  const bool is_aligned = call.integer("align_corners", 0) != 0;
  const size_t dims = sizes.size() - std::min<size_t>(sizes.size(), 2);
  const Ints image(sizes.begin() + 2, sizes.end());
  if (dims != 2 && dims != 3) throw Refused("images of two or three dimensions are implemented");
  const auto width = static_cast<int64_t>(dims) + 1;
  if (build.sizes(call.in(0)) != Ints{sizes[0], width - 1, width}) throw Refused("a matrix for each image is needed");
  check_constant(image);
  const int64_t pixels = element_count(Dims(image));
  std::vector<double> base;
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    int64_t rest = pixel;
    for (size_t i = dims; i-- > 0;) {  // x first
      const auto size = static_cast<double>(image[i]);
      const auto at = static_cast<double>(rest % image[i]);
      base.push_back(is_aligned ? (image[i] == 1 ? 0 : 2 * at / (size - 1) - 1) : (2 * at + 1) / size - 1);
      rest /= image[i];
    }
    base.push_back(1);
  }
  const ValueId points = build.reals(base, build.dtype(call.in(0)), {1, pixels, width});
  const ValueId all = build.broadcast(points, {sizes[0], pixels, width});
  const ValueId grid = build.emit("BatchMatMulV2", {{all}, {build.transpose(call.in(0), {0, 2, 1})}});
  Ints result = {sizes[0]};
  result.insert(result.end(), image.begin(), image.end());
  result.push_back(width - 1);
  call.set(build.view(grid, result));
}

// (x, filter, offsets, bias?, mask?): a convolution whose filter taps are moved.
void deform_conv(Call& call) {
  Builder& build = call.build();
  const Ints x = build.sizes(call.in(0));
  const Ints filter = build.sizes(call.in(1));
  if (x.size() != 4 || filter.size() != 4) throw Refused("images of two dimensions are implemented");
  const Ints image = {x[2], x[3]};
  const Windows windows = Windows::read(call, image, {filter[2], filter[3]});
  const int64_t groups = call.integer("group", 1);
  const int64_t moved = call.integer("offset_group", 1);
  const int64_t taps = filter[2] * filter[3];
  const Ints counts = {windows.outputs(0, image[0]), windows.outputs(1, image[1])};
  check_constant(counts, static_cast<double>(taps));
  const int64_t places = counts[0] * counts[1];
  if (moved < 1 || groups < 1 || x[1] % moved != 0 || filter[0] % groups != 0 || filter[1] * groups != x[1]) {
    throw Refused("the groups do not divide the channels");
  }
  // Offsets [N, moved taps 2, places] to coordinates [N moved, 1, taps places].
  const ValueId offsets = build.view(call.in(2), {x[0] * moved, taps, 2, places});
  std::vector<ValueId> coordinates;
  for (size_t dim = 0; dim < 2; ++dim) {
    std::vector<double> base;
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t location = 0; location < places; ++location) {
        const int64_t k = dim == 0 ? tap / filter[3] : tap % filter[3];
        const int64_t at = dim == 0 ? location / counts[1] : location % counts[1];
        base.push_back(
            static_cast<double>(at * windows.strides[dim] + k * windows.dilations[dim] - windows.before[dim]));
      }
    }
    const auto d = static_cast<int64_t>(dim);
    const ValueId own = build.view(build.slice(offsets, 2, d, d + 1), {x[0] * moved, 1, taps * places});
    coordinates.push_back(build.add(own, build.reals(base, build.dtype(own), {1, 1, taps * places})));
  }
  const ValueId parts = build.view(call.in(0), {x[0] * moved, x[1] / moved, x[2], x[3]});
  ValueId columns = sampled(build, parts, coordinates);
  if (call.has(4)) columns = build.mul(columns, build.view(call.in(4), {x[0] * moved, 1, taps * places}));
  columns = build.view(columns, {x[0], groups, x[1] / groups * taps, places});
  const ValueId weights = build.view(call.in(1), {1, groups, filter[0] / groups, filter[1] * taps});
  ValueId y = build.emit("BatchMatMulV2",
                         {{build.broadcast(weights, {x[0], groups, filter[0] / groups, filter[1] * taps})}, {columns}});
  y = build.view(y, {x[0], filter[0], counts[0], counts[1]});
  if (call.has(3)) y = build.add(y, along(build, call.in(3), 1, 4));
  call.set(y);
}

// (x, regions [R, 4], their images [R]): each region's cells, of a mean or maximum over a grid of samples.
void roi_align(Call& call) {
  Builder& build = call.build();
  const Ints x = build.sizes(call.in(0));
  const int64_t height = call.integer("output_height", 1);
  const int64_t width = call.integer("output_width", 1);
  const int64_t grid = call.integer("sampling_ratio", 0);
  const double scale = call.real("spatial_scale", 1);
  const bool is_max = call.words("mode", "avg") == "max";
  const bool is_half = call.words("coordinate_transformation_mode",
                                  call.version() >= 16 ? "half_pixel" : "output_half_pixel") == "half_pixel";
  if (grid < 1) throw Refused("sampling_ratio=0: the number of samples depends on the regions");
  const int64_t regions = build.dims(call.in(1))[0];
  const Ints counts = {height, width};
  if (x.size() != 4) throw Refused("images of two dimensions are needed");
  check_constant(counts, static_cast<double>(grid) * static_cast<double>(grid));
  std::vector<ValueId> axes;  // [R, cells, grid] for rows and columns
  for (int64_t dim = 0; dim < 2; ++dim) {
    const auto edge = [&](int64_t i) {
      const ValueId at = build.scaled(build.slice(call.in(1), 1, i, i + 1), scale);  // [R, 1]
      return is_half ? build.shifted(at, -0.5) : at;
    };
    const ValueId first = edge(1 - dim);
    ValueId size = build.sub(edge(3 - dim), first);
    if (!is_half) size = build.emit("Maximum", {{size}, build.number(1)});
    std::vector<double> shares;
    for (int64_t i = 0; i < counts[dim] * grid; ++i) {
      shares.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(counts[dim] * grid));
    }
    const ValueId steps = build.reals(shares, build.dtype(size), {1, counts[dim] * grid});
    axes.push_back(build.add(first, build.mul(size, steps)));
  }
  std::vector<ValueId> coordinates;
  ValueId is_outside = kNoValue;
  const Ints all = {regions, height * grid, width * grid};
  for (int64_t dim = 0; dim < 2; ++dim) {
    const auto size = static_cast<double>(x[2 + dim]);
    ValueId at = build.view(axes[dim], dim == 0 ? Ints{regions, all[1], 1} : Ints{regions, 1, all[2]});
    at = build.view(build.broadcast(at, all), {regions, 1, all[1] * all[2]});
    const ValueId below = build.emit("Less", {{at}, build.number(-1)});
    const ValueId outside = build.emit("LogicalOr", {{below}, {build.emit("Greater", {{at}, build.number(size)})}});
    is_outside = is_outside == kNoValue ? outside : build.emit("LogicalOr", {{is_outside}, {outside}});
    // Up to one pixel outside the border's value counts.
    at = build.emit("Maximum", {{at}, build.number(0)});
    coordinates.push_back(build.emit("Minimum", {{at}, build.number(size - 1)}));
  }
  const ValueId images = build.emit("GatherV2", {{call.in(0)}, {wrapped(build, call.in(2), x[0])}, build.host({0})});
  ValueId values = sampled(build, images, coordinates, is_max ? "Maximum" : "Add");
  values = build.emit("Select", {{is_outside}, {build.scalar(0, build.dtype(values))}, {values}});
  values = build.view(values, {regions, x[1], height, grid, width, grid});
  call.set(build.reduce(is_max ? "ReduceMax" : "ReduceMean", values, {3, 5}, false));
}

constexpr LowerRow kRows[] = {
    {"AffineGrid", affine_grid}, {"CenterCropPad", center_crop_pad}, {"Col2Im", col2im}, {"DeformConv", deform_conv},
    {"RoiAlign", roi_align},
};

}  // namespace

std::span<const LowerRow> sample_rows() { return kRows; }

}  // namespace softnpu::graph
