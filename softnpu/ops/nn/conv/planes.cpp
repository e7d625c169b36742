// Convolutions of each channel on its own (as many groups as channels), whose images are rows in memory. A library's
// convolution would reorder such images and the result.

#include <algorithm>
#include <array>
#include <cstring>

#include "ops/nn/conv/planes_kernels.h"
#include "ops/nn/conv/step.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr int64_t kMaxTaps = 128;
// Floats of a thread's copy of some rows with their padding: about a first-level cache.
constexpr int64_t kRowFloats = 8192;

// Whether images have one or two dimensions, and rows without gaps.
bool has_rows(const Image& image) {
  return !image.is_blocked && image.dtype == ACL_FLOAT && image.sizes[0] == 1 &&
         (image.sizes[2] == 1 || image.strides[2] == 1);
}

// A convolution of the planes of `from` with `copies` filters each, that makes the planes of `to`.
struct PlaneTask {
  Image from;
  Image to;
  Filter filter;
  const char* bias = nullptr;
  int64_t bias_stride = 0;
  int64_t batch = 0;
  int64_t channels = 0;  // of `from`
  int64_t copies = 1;
  std::array<int64_t, 2> stride{}, padding{}, dilation{};
  bool is_flipped = false;  // the filter's taps in reverse
  int threads = 1;

  // Of the copied rows: those that `width` result columns read, divided into stride[1] phases of every stride[1]-th
  // value.
  int64_t phase_floats = 0;
  int64_t rows_at_once = 0;  // of the result

  int64_t row_floats() const { return stride[1] * phase_floats; }
  // The rows of the source, with padding, that `rows` rows of the result read.
  int64_t source_rows(int64_t rows) const { return (rows - 1) * stride[0] + (filter.sizes[1] - 1) * dilation[0] + 1; }

  bool prepare() {
    phase_floats = to.sizes[2] + (filter.sizes[2] - 1) * dilation[1] / stride[1] + 1 + kPlaneSlack;
    const int64_t most = kRowFloats / row_floats();
    rows_at_once = most < source_rows(1) ? 0 : std::min(to.sizes[1], (most - source_rows(1)) / stride[0] + 1);
    return rows_at_once > 0;
  }

  void run() const {
    const int64_t planes = batch * channels;
    const int64_t values = std::max<int64_t>(1, to.sizes[1] * to.sizes[2] * copies);
    parallel_for(planes, std::max<int64_t>(1, (1 << 14) / values), threads, [this](int64_t first, int64_t last) {
      alignas(64) float rows[kRowFloats];
      for (int64_t plane = first; plane < last; ++plane) run_plane(plane / channels, plane % channels, rows);
    });
  }

 private:
  void run_plane(int64_t image, int64_t channel, float* rows) const {
    const auto* const source =
        reinterpret_cast<const float*>(from.data) + image * from.batch_stride + channel * from.channel_stride;
    auto* const result = reinterpret_cast<float*>(to.data) + image * to.batch_stride;
    for (int64_t y = 0; y < to.sizes[1]; y += rows_at_once) {
      const int64_t output = std::min(rows_at_once, to.sizes[1] - y);
      for (int64_t r = 0; r < source_rows(output); ++r) {
        copy_row(source, y * stride[0] - padding[0] + r, rows + r * row_floats());
      }
      for (int64_t copy = 0; copy < copies; ++copy) {
        const int64_t out = channel * copies + copy;
        make(rows, out, output, result + out * to.channel_stride + y * to.strides[1]);
      }
    }
  }

  // Row `y` of the source, which may be padding, in phases.
  void copy_row(const float* source, int64_t y, float* row) const {
    if (y < 0 || y >= from.sizes[1]) {
      std::fill_n(row, row_floats(), 0.0F);
      return;
    }
    source += y * from.strides[1];
    const int64_t s = stride[1];
    for (int64_t phase = 0; phase < s; ++phase, row += phase_floats) {
      const int64_t shift = phase - padding[1];                                    // value j is source[j * s + shift]
      const auto index_from = [&](int64_t x) { return (x - shift + s - 1) / s; };  // x - shift is not negative
      const int64_t first = shift >= 0 ? 0 : std::min(phase_floats, index_from(0));
      const int64_t last = std::clamp(from.sizes[2] <= shift ? 0 : index_from(from.sizes[2]), first, phase_floats);
      std::fill_n(row, first, 0.0F);
      const float* const at = source + shift;
      if (s == 1) {
        std::memcpy(row + first, at + first, static_cast<size_t>(last - first) * sizeof(float));
      } else {
        for (int64_t j = first; j < last; ++j) row[j] = at[j * s];
      }
      std::fill(row + last, row + phase_floats, 0.0F);
    }
  }

  void make(const float* rows, int64_t out, int64_t output, float* result) const {
    std::array<const float*, kMaxTaps> tap_rows;
    std::array<float, kMaxTaps> taps;
    const auto* const own = reinterpret_cast<const float*>(filter.data) + out * filter.out_stride;
    const int64_t count = filter.sizes[1] * filter.sizes[2];
    for (int64_t k = 0; k < count; ++k) {
      const int64_t ky = k / filter.sizes[2];
      const int64_t kx = k % filter.sizes[2];
      const int64_t x = kx * dilation[1];
      const auto index = static_cast<size_t>(k);
      tap_rows[index] = rows + ky * dilation[0] * row_floats() + x % stride[1] * phase_floats + x / stride[1];
      const int64_t y_tap = is_flipped ? filter.sizes[1] - 1 - ky : ky;
      const int64_t x_tap = is_flipped ? filter.sizes[2] - 1 - kx : kx;
      taps[index] = own[y_tap * filter.strides[1] + x_tap * filter.strides[2]];
    }
    convolve_plane({tap_rows.data(), taps.data(), static_cast<size_t>(count), stride[0] * row_floats(),
                    bias == nullptr ? 0 : reinterpret_cast<const float*>(bias)[out * bias_stride], result,
                    to.strides[1], static_cast<size_t>(output), static_cast<size_t>(to.sizes[2])});
  }
};

}  // namespace

Attempt<Step> plane_convolution(const ConvProblem& p) {
  if (p.groups == 1 || p.in_channels() != 1) return Refusal{"a result has more than one channel to add"};
  if (p.dtype != ACL_FLOAT || p.filter.dtype != ACL_FLOAT || (p.bias != nullptr && p.bias_dtype != ACL_FLOAT)) {
    return Refusal{"the data type is not float32"};
  }
  if (!has_rows(p.in) || !has_rows(p.out)) return Refusal{"the images' rows are not contiguous"};
  if (p.filter.sizes[0] != 1 || p.filter.taps() > kMaxTaps) return Refusal{"the filter is a volume, or large"};
  const bool forward = p.kind == ConvKind::kForward;
  // A gradient with strides reads every stride-th value, and one of several filters is a sum.
  const bool is_mirror = p.kind == ConvKind::kInputGradient && p.stride == Triple{1, 1, 1} && p.out_channels() == 1;
  if (!forward && !is_mirror) return Refusal{"it is a gradient with a stride, of several filters, or of the filter"};
  PlaneTask task;
  task.from = forward ? p.in : p.out;
  task.to = forward ? p.out : p.in;
  task.filter = p.filter;
  task.bias = p.bias;
  task.bias_stride = p.bias_stride;
  task.batch = p.batch;
  task.channels = task.from.channels;
  task.copies = forward ? p.out_channels() : 1;
  task.is_flipped = !forward;
  for (size_t i = 0; i < 2; ++i) {
    task.stride[i] = p.stride[i + 1];
    task.dilation[i] = p.dilation[i + 1];
    task.padding[i] = forward ? p.padding[i + 1] : (p.filter.sizes[i + 1] - 1) * p.dilation[i + 1] - p.padding[i + 1];
  }
  if (!task.prepare()) return Refusal{"a padded row is large"};
  task.threads = threads_for(p.flops());
  Step step;
  step.flops = p.flops();
  step.run = [task](char*) { task.run(); };
  return step;
}

}  // namespace softnpu
