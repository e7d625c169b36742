// Convolutions.

#include <algorithm>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {

Windows Windows::read(Call& call, const Ints& image, const Ints& kernel) {
  const size_t dims = image.size();
  Windows result;
  result.kernel = kernel;
  const auto filled = [&](const char* name, int64_t otherwise) {
    Ints values = call.ints(name);
    if (values.empty()) values.assign(dims, otherwise);
    return values;
  };
  result.strides = filled("strides", 1);
  result.dilations = filled("dilations", 1);
  result.ceil_mode = call.integer("ceil_mode", 0) != 0;
  Ints pads = call.ints("pads");
  if (pads.empty()) pads.assign(2 * dims, 0);
  if (kernel.size() != dims || result.strides.size() != dims || result.dilations.size() != dims ||
      pads.size() != 2 * dims) {
    throw Refused(text("the kernel, strides, dilations or pads do not have ", dims, " dimensions"));
  }
  // Sums and products of them fit into 64 bits.
  const auto is_bad = [](int64_t size) { return size < 1 || size > 1 << 20; };
  const auto is_far = [](int64_t size) { return size < -(1 << 20) || size > 1 << 20; };
  if (std::ranges::any_of(pads, is_far) || std::ranges::any_of(kernel, is_bad)) {
    throw Refused("kernels and pads are at most 2^20");
  }
  if (std::ranges::any_of(result.strides, is_bad) || std::ranges::any_of(result.dilations, is_bad)) {
    throw Refused("strides and dilations are 1 to 2^20");
  }
  const std::string mode = call.words("auto_pad", "NOTSET");
  for (size_t i = 0; i < dims; ++i) {
    int64_t before = pads[i];
    int64_t after = pads[dims + i];
    if (mode == "VALID") before = after = 0;
    if (mode.starts_with("SAME")) {
      const int64_t outputs = (image[i] + result.strides[i] - 1) / result.strides[i];
      const int64_t span = (kernel[i] - 1) * result.dilations[i] + 1;
      const int64_t total = std::max<int64_t>(0, (outputs - 1) * result.strides[i] + span - image[i]);
      before = mode == "SAME_LOWER" ? total - total / 2 : total / 2;
      after = total - before;
    }
    result.before.push_back(before);
    result.after.push_back(after);
  }
  return result;
}

// A window begins within the image or the padding before it.
int64_t Windows::outputs(size_t dim, int64_t size) const {
  const int64_t span = (kernel[dim] - 1) * dilations[dim] + 1;
  const int64_t rest = size + before[dim] + after[dim] - span;
  if (rest < 0) throw Refused("a window is larger than the padded image");
  int64_t count = rest / strides[dim] + 1;
  if (ceil_mode && rest % strides[dim] != 0 && count * strides[dim] < size + before[dim]) ++count;
  return count;
}

Ints Windows::positions(const Ints& image, const Ints& counts, bool is_column_major) const {
  const auto volume = [](const Ints& sizes) { return element_count(Dims(sizes)); };
  const auto coordinate = [](int64_t index, const Ints& sizes, size_t dim) {
    for (size_t i = sizes.size(); --i > dim;) index /= sizes[i];
    return index % sizes[dim];
  };
  check_constant(kernel, 1);
  check_constant(image, 1);
  check_constant(counts, static_cast<double>(volume(kernel)));
  Ints all;
  for (int64_t window = 0; window < volume(counts); ++window) {
    for (int64_t element = 0; element < volume(kernel); ++element) {
      int64_t position = 0;
      bool is_image = true;
      for (size_t k = 0; k < image.size(); ++k) {
        const size_t dim = is_column_major ? image.size() - 1 - k : k;
        const int64_t at = coordinate(window, counts, dim) * strides[dim] +
                           coordinate(element, kernel, dim) * dilations[dim] - before[dim];
        is_image &= at >= 0 && at < image[dim];
        position = position * image[dim] + at;
      }
      all.push_back(is_image ? position : -1);
    }
  }
  return all;
}

namespace {

// The row's attributes have a value for batch and channels, too.
Ints with_outer(const Ints& spatial) {
  Ints values = {1, 1};
  values.insert(values.end(), spatial.begin(), spatial.end());
  return values;
}

Ints pairs(const Ints& before, const Ints& after) {
  Ints values;
  for (size_t i = 0; i < before.size(); ++i) {
    values.push_back(before[i]);
    values.push_back(after[i]);
  }
  return values;
}

// One dimension becomes two, the first with one element.
ValueId with_height(Builder& build, ValueId x) {
  Ints sizes = build.sizes(x);
  sizes.insert(sizes.begin() + 2, 1);
  return build.view(x, sizes);
}

ValueId without_height(Builder& build, ValueId x) {
  Ints sizes = build.sizes(x);
  sizes.erase(sizes.begin() + 2);
  return build.view(x, sizes);
}

Windows with_height(Windows windows) {
  for (Ints* ones : {&windows.kernel, &windows.strides, &windows.dilations}) ones->insert(ones->begin(), 1);
  windows.before.insert(windows.before.begin(), 0);
  windows.after.insert(windows.after.begin(), 0);
  return windows;
}

Ints spatial(Builder& build, ValueId image) {
  const Ints sizes = build.sizes(image);
  if (sizes.size() < 3) throw Refused(text("an image [N, C, spatial] is needed, not ", sizes.size(), " dimensions"));
  return {sizes.begin() + 2, sizes.end()};
}

}  // namespace

ValueId convolved(Builder& build, ValueId x, ValueId filter, ValueId bias, const Windows& windows, int64_t groups) {
  if (windows.kernel.size() == 1) {
    const ValueId y =
        convolved(build, with_height(build, x), with_height(build, filter), bias, with_height(windows), groups);
    return without_height(build, y);
  }
  Windows inner = windows;
  if (windows.before != windows.after) {
    x = padded(
        build, x,
        [&] {
          Ints all = {0, 0};
          all.insert(all.end(), windows.before.begin(), windows.before.end());
          return all;
        }(),
        [&] {
          Ints all = {0, 0};
          all.insert(all.end(), windows.after.begin(), windows.after.end());
          return all;
        }(),
        0);
    inner.before.assign(windows.kernel.size(), 0);
    inner.after = inner.before;
  }
  std::vector<Operand> inputs = {{x}, {filter}};
  if (bias != kNoValue) inputs.push_back({bias});
  return build.emit(windows.kernel.size() == 2 ? "Conv2D" : "Conv3D", std::move(inputs),
                    {{"strides", with_outer(inner.strides)},
                     {"pads", pairs(inner.before, inner.after)},
                     {"dilations", with_outer(inner.dilations)},
                     {"groups", groups}});
}

namespace {

void conv(Call& call) {
  Builder& build = call.build();
  const ValueId x = call.in(0);
  const ValueId filter = call.in(1);
  const Windows windows = Windows::read(call, spatial(build, x), spatial(build, filter));
  call.set(convolved(build, x, filter, call.maybe(2), windows, call.integer("group", 1)));
}

// Computed without paddings, which are then cropped; missing ends are padded.
void conv_transpose(Call& call) {
  Builder& build = call.build();
  ValueId x = call.in(0);
  ValueId filter = call.in(1);
  const size_t dims = spatial(build, x).size();
  Windows windows = Windows::read(call, spatial(build, x), spatial(build, filter));
  Ints extra = call.ints("output_padding");
  if (extra.empty()) extra.assign(dims, 0);
  const Ints image = spatial(build, x);
  const Ints wanted = call.ints("output_shape");
  const std::string mode = call.words("auto_pad", "NOTSET");
  Ints full;
  Ints first;
  Ints sizes;
  for (size_t i = 0; i < dims; ++i) {
    const int64_t span = (windows.kernel[i] - 1) * windows.dilations[i] + 1;
    full.push_back((image[i] - 1) * windows.strides[i] + span);
    int64_t size = full[i] + extra[i] - windows.before[i] - windows.after[i];
    int64_t before = windows.before[i];
    const bool is_same = mode.starts_with("SAME");
    if (!wanted.empty() || is_same) {
      size = wanted.empty() ? image[i] * windows.strides[i] : wanted[wanted.size() - dims + i];
      const int64_t total = std::max<int64_t>(0, full[i] + extra[i] - size);
      before = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    }
    first.push_back(before);
    sizes.push_back(size);
  }
  const int64_t groups = call.integer("group", 1);
  const bool has_height = dims == 1;
  if (has_height) {
    x = with_height(build, x);
    filter = with_height(build, filter);
    windows = with_height(windows);
    full.insert(full.begin(), 1);
  }
  Ints all = {build.dims(x)[0], build.dims(filter)[1] * groups};
  all.insert(all.end(), full.begin(), full.end());
  std::vector<Operand> inputs = {build.host(all), {x}, {filter}};
  const Ints zeros(full.size(), 0);
  ValueId y = build.emit(full.size() == 2 ? "Conv2DTranspose" : "Conv3DTranspose", std::move(inputs),
                         {{"strides", with_outer(windows.strides)},
                          {"pads", pairs(zeros, zeros)},
                          {"dilations", with_outer(windows.dilations)},
                          {"groups", groups}});
  if (has_height) y = without_height(build, y);
  Ints before = {0, 0};
  Ints after = {0, 0};
  for (size_t i = 0; i < dims; ++i) {
    before.push_back(-first[i]);
    after.push_back(first[i] + sizes[i] - build.dims(y)[2 + i]);
  }
  y = padded(build, y, before, after, 0);
  if (call.has(2)) y = build.add(y, along(build, call.in(2), 1, build.rank(y)));
  call.set(y);
}

// Integers in double precision.
void conv_integer(Call& call) {
  Builder& build = call.build();
  const auto centered = [&](size_t i, size_t zero_point, int64_t dim) {
    ValueId x = build.cast(call.in(i), ACL_DOUBLE);
    if (!call.has(zero_point)) return x;
    ValueId zero = build.cast(call.in(zero_point), ACL_DOUBLE);
    zero = build.count(zero) == 1 ? build.view(zero, {}) : along(build, zero, dim, build.rank(x));
    return build.sub(x, zero);
  };
  const ValueId x = centered(0, 2, 1);
  const ValueId filter = centered(1, 3, 0);
  const Windows windows = Windows::read(call, spatial(build, x), spatial(build, filter));
  call.set(build.cast(convolved(build, x, filter, kNoValue, windows, call.integer("group", 1)), ACL_INT32));
}

constexpr LowerRow kRows[] = {
    {"Conv", conv},
    {"ConvTranspose", conv_transpose},
    {"ConvInteger", conv_integer},
};

}  // namespace

std::span<const LowerRow> conv_rows() { return kRows; }

}  // namespace softnpu::graph
