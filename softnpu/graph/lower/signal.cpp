// Signal processing. Definitions: the specification of ONNX, opsets 17 to 20.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {
namespace {

aclDataType output_type(Call& call) {
  const aclDataType dtype = onnx::dtype_of(static_cast<int32_t>(call.integer("output_datatype", 1)));
  if (!is_floating(dtype)) throw Refused("the output is no floating-point number");
  return dtype;
}

struct Cosines {
  double constant, first, second;
};

// constant + first cos(t) + second cos(2 t) over one period.
template <const Cosines& of>
void window(Call& call) {
  const int64_t size = call.build().int_of(call.in(0));
  check_constant({size});
  const auto period = static_cast<double>(call.integer("periodic", 1) != 0 ? size : std::max<int64_t>(size - 1, 1));
  std::vector<double> values;
  for (int64_t i = 0; i < size; ++i) {
    const double t = 2 * std::numbers::pi * static_cast<double>(i) / period;
    values.push_back(of.constant + of.first * std::cos(t) + of.second * std::cos(2 * t));
  }
  call.set(call.build().reals(values, output_type(call), {size}));
}

// The filters of a mel scale: triangles over the bins of a spectrum.
void mel_weights(Call& call) {
  Builder& build = call.build();
  const int64_t bands = build.int_of(call.in(0));
  const int64_t length = build.int_of(call.in(1));
  const auto rate = static_cast<double>(build.int_of(call.in(2)));
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(build.real_of(call.in(3)));
  const double high = mel(build.real_of(call.in(4)));
  const int64_t bins = length / 2 + 1;
  check_constant({bands, std::max<int64_t>(bins, 0)});
  if (bands < 1 || bins < 1) throw Refused("so many filters");
  Ints edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    const double at = low + static_cast<double>(i) * (high - low) / static_cast<double>(bands + 2);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    edges.push_back(std::clamp<int64_t>(
        static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hertz / rate)), 0, bins - 1));
  }
  std::vector<double> weights(static_cast<size_t>(bins * bands), 0);
  const auto weight = [&](int64_t bin, int64_t band) -> double& { return weights[bin * bands + band]; };
  for (int64_t band = 0; band < bands; ++band) {
    const int64_t first = edges[band];
    const int64_t center = edges[band + 1];
    const int64_t last = edges[band + 2];
    if (first == center) weight(center, band) = 1;
    for (int64_t i = first; first < center && i <= center; ++i) {
      weight(i, band) = static_cast<double>(i - first) / static_cast<double>(center - first);
    }
    for (int64_t i = center; i < last; ++i) {
      weight(i, band) = static_cast<double>(last - i) / static_cast<double>(last - center);
    }
  }
  call.set(build.reals(weights, output_type(call), {bins, bands}));
}

struct Transform {
  int64_t length = 0;  // of the whole signal
  bool is_inverse = false;
  bool is_onesided = false;  // the spectrum has its first half only
};

// [n, k] of factor(i, j) of the angle 2 pi i j / length.
template <typename Factor>
ValueId angles(Builder& build, const Transform& of, int64_t rows, int64_t columns, aclDataType dtype,
               const Factor& factor) {
  std::vector<double> values;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      // Reduced first: the angle is exact then.
      const auto turn = static_cast<double>(i * j % of.length) / static_cast<double>(of.length);
      values.push_back(factor(i, 2 * std::numbers::pi * turn));
    }
  }
  return build.reals(values, dtype, {rows, columns});
}

// The transform of x [rows, n, 1 or 2] along n, as a product with a matrix in double precision: [rows, k, 1 or 2].
ValueId transformed(Builder& build, ValueId signal, const Transform& of) {
  ValueId x = build.cast(signal, ACL_DOUBLE);
  const int64_t half = of.length / 2 + 1;
  const bool is_real_result = of.is_inverse && of.is_onesided;
  const int64_t read = is_real_result ? half : of.length;
  const int64_t result = of.is_onesided && !of.is_inverse ? half : of.length;
  if (of.length < 1) throw Refused(text("a transform of ", of.length, " elements"));
  check_constant({read, result});
  const aclDataType dtype = build.dtype(x);
  const int64_t rows = build.dims(x)[0];
  const int64_t parts = build.dims(x)[2];
  x = padded(build, x, {0, 0, 0}, {0, read - build.dims(x)[1], 0}, 0);
  const auto part = [&](int64_t i) { return build.view(build.slice(x, 2, i, i + 1), {rows, read}); };
  const auto scale = [&](int64_t i) {
    if (!of.is_inverse) return 1.0;
    const bool is_single = i == 0 || 2 * i == of.length;  // else it stands for its conjugate, too
    return (is_real_result && !is_single ? 2.0 : 1.0) / static_cast<double>(of.length);
  };
  const ValueId cosine =
      angles(build, of, read, result, dtype, [&](int64_t i, double angle) { return scale(i) * std::cos(angle); });
  const double sign = of.is_inverse ? -1 : 1;
  const ValueId sine = angles(build, of, read, result, dtype,
                              [&](int64_t i, double angle) { return sign * scale(i) * std::sin(angle); });
  const auto product = [&](int64_t i, ValueId matrix) { return build.emit("MatMulV2", {{part(i)}, {matrix}}); };
  // (a + b i) (cos - i sin) = a cos + b sin + i (b cos - a sin)
  ValueId real = product(0, cosine);
  if (parts == 2) real = build.add(real, product(1, sine));
  if (is_real_result) return build.cast(build.view(real, {rows, result, 1}), build.dtype(signal));
  ValueId imaginary = build.emit("Neg", {{product(0, sine)}});
  if (parts == 2) imaginary = build.add(imaginary, product(1, cosine));
  const ValueId y =
      build.concatenate({build.view(real, {rows, result, 1}), build.view(imaginary, {rows, result, 1})}, 2);
  return build.cast(y, build.dtype(signal));
}

// Before opset 20 the axis is an attribute.
void dft(Call& call) {
  Builder& build = call.build();
  ValueId x = call.in(0);
  const int64_t rank = build.rank(x);
  const int64_t parts = rank < 2 ? 0 : build.dims(x)[rank - 1];
  if (parts != 1 && parts != 2) throw Refused("the last dimension has 1 or 2 elements");
  int64_t axis = call.integer("axis", 1);
  if (call.version() >= 20) axis = call.has(2) ? build.int_of(call.in(2)) : -2;
  axis = Builder::index(axis, rank);
  if (axis == rank - 1) throw Refused("the axis is that of real and imaginary parts");
  Transform of;
  of.is_inverse = call.integer("inverse", 0) != 0;
  of.is_onesided = call.integer("onesided", 0) != 0;
  const int64_t size = build.dims(x)[axis];
  of.length = of.is_inverse && of.is_onesided ? 2 * (size - 1) : size;
  if (call.has(1)) of.length = build.int_of(call.in(1));
  Ints order = iota(rank);
  std::swap(order[axis], order[rank - 2]);
  x = build.transpose(x, order);
  Ints sizes = build.sizes(x);
  const ValueId y = transformed(build, build.view(x, {-1, size, parts}), of);
  sizes[rank - 2] = build.dims(y)[1];
  sizes[rank - 1] = build.dims(y)[2];
  call.set(build.transpose(build.view(y, sizes), order));
}

// (signal [B, n, 1 or 2], step, window?, length?) to [B, frames, bins, 2].
void stft(Call& call) {
  Builder& build = call.build();
  ValueId x = call.in(0);
  const Ints sizes = build.sizes(x);
  if (sizes.size() != 3) throw Refused("a signal [batch, length, 1 or 2] is needed");
  const int64_t step = build.int_of(call.in(1));
  Transform of;
  of.is_onesided = call.integer("onesided", 1) != 0;
  of.length = call.has(3) ? build.int_of(call.in(3)) : build.count(call.in(2));
  if (step < 1 || of.length < 1 || of.length > sizes[1]) throw Refused("the frames do not fit the signal");
  const int64_t frames = (sizes[1] - of.length) / step + 1;
  check_constant({frames, of.length});
  Ints taken;
  for (int64_t i = 0; i < frames; ++i) {
    for (int64_t j = 0; j < of.length; ++j) taken.push_back(i * step + j);
  }
  x = build.view(build.take(x, 1, taken), {sizes[0] * frames, of.length, sizes[2]});
  if (call.has(2)) x = build.mul(x, along(build, call.in(2), 1, 3));
  const ValueId y = transformed(build, x, of);
  call.set(build.view(y, {sizes[0], frames, build.dims(y)[1], 2}));
}

constexpr Cosines kHann = {0.5, -0.5, 0};
constexpr Cosines kHamming = {25.0 / 46, -21.0 / 46, 0};
constexpr Cosines kBlackman = {0.42, -0.5, 0.08};

constexpr LowerRow kRows[] = {
    {"BlackmanWindow", window<kBlackman>}, {"DFT", dft},
    {"HammingWindow", window<kHamming>},   {"HannWindow", window<kHann>},
    {"MelWeightMatrix", mel_weights},      {"STFT", stft},
};

}  // namespace

std::span<const LowerRow> signal_rows() { return kRows; }

}  // namespace softnpu::graph
