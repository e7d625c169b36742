#pragma once
// Tensors with a dimension of channels: common parts of their normalizations.

#include <algorithm>
#include <memory>

#include "ops/core/format/nc1hwc0.h"
#include "ops/nn/norm/operands.h"
#include "ops/nn/norm/rows.h"
#include "ops/nn/norm/slices.h"
#include "workers/parallel.h"

namespace softnpu {

// Values per tile, and in the smallest piece for a thread.
constexpr int64_t kNormTile = 1024;
constexpr int64_t kNormGrain = 1 << 14;
// The cost of one value in the operations of threads_for.
constexpr double kNormFlops = 32;

// x as [samples, channels, spatial_size]. A slice is one channel of one sample.
struct Channels {
  int64_t samples = 1;
  int64_t channels = 1;
  int64_t spatial_size = 1;
  int64_t last = -1;  // the dimension to be treated as the innermost one
  int threads = 1;

  int64_t count() const { return samples * channels * spatial_size; }
  int64_t per_channel() const { return samples * spatial_size; }
  int64_t slice(int64_t sample, int64_t channel) const { return (sample * channels + channel) * spatial_size; }
  // Whether the slices of a channel are worth one kernel call for all of them.
  bool has_short_slices() const { return samples > 1 && spatial_size <= kMaxShortSlice; }
  SliceShape slices() const {
    return {static_cast<size_t>(samples), static_cast<size_t>(channels * spatial_size),
            static_cast<size_t>(spatial_size)};
  }
};

constexpr int64_t kChannelDim = 1;

// Opens an image for `shape`; also one in NC1HWC0, if the channels are treated as the innermost dimension.
template <typename Accessor>
Status open_image(const aclTensor* image, const char* role, const Channels& shape, std::optional<Accessor>* out) {
  if (image == nullptr || !is_blocked_format(*image) || shape.last != kChannelDim) {
    return open(image, role, shape.count(), out, shape.last);
  }
  SOFTNPU_RETURN_IF_ERROR(check_nc1hwc0(*image, role));
  const aclTensor rows = blocks_as_rows(*image);
  return open(&rows, role, shape.count(), out);
}

// Calls body(first element, count) for tiles of one slice.
template <typename Body>
void for_tiles(int64_t first, int64_t spatial_size, Body&& body) {
  for (int64_t at = 0; at < spatial_size; at += kNormTile) body(first + at, std::min(kNormTile, spatial_size - at));
}

// When the work is planned: the sizes are known.
inline int threads_of(const Channels& shape) { return threads_for(kNormFlops * static_cast<double>(shape.count())); }

// Calls body(part) for `parts` parts of the work on `shape`.
template <typename Body>
void for_parts(const Channels& shape, int64_t parts, Body&& body) {
  const int64_t values = shape.count() / std::max<int64_t>(1, parts);
  parallel_for(parts, std::max<int64_t>(1, kNormGrain / std::max<int64_t>(1, values)), shape.threads,
               [&](int64_t first, int64_t last) {
                 for (int64_t part = first; part < last; ++part) body(part);
               });
}

// Reads `x` as [N, C, ...].
Status channels_of(const aclTensor& x, Channels* out);

// The gradients of one slice, common to both normalizations.
template <typename T>
struct SliceGradient {
  NormRows<T> kernel = norm_rows<T>();
  Channels shape;
  std::optional<FlatReader<T>> grad, x, weight;
  std::optional<FlatWriter<T>> dx, dweight, dbias;

  // The addresses of all values, if the slices are short and memory has the values contiguously; else null.
  struct Whole {
    const T* grad = nullptr;
    const T* x = nullptr;
    T* dx = nullptr;
  };
  Whole find_whole() const {
    if (!shape.has_short_slices()) return {};
    const int64_t count = shape.count();
    return {grad->find(0, count), x->find(0, count), dx ? dx->find(0, count) : nullptr};
  }

  // Over the slices of channel `c`.
  GradientSums sums_of_channel(const Whole& whole, int64_t c, T mean, T rstd) const {
    if (whole.grad != nullptr && whole.x != nullptr) {
      const int64_t at = shape.slice(0, c);
      return slice_kernels<T>().gradient_sums(shape.slices(), whole.grad + at, whole.x + at, mean, rstd);
    }
    GradientSums sum;
    for (int64_t n = 0; n < shape.samples; ++n) {
      const GradientSums part = sums(n, c, mean, rstd);
      sum.g += part.g;
      sum.gz += part.gz;
    }
    return sum;
  }

  void put_channel(const Whole& whole, int64_t c, T mean, T rstd, T factor, T a, T b) const {
    if (whole.grad != nullptr && whole.x != nullptr && whole.dx != nullptr) {
      const int64_t at = shape.slice(0, c);
      return slice_kernels<T>().gradient(shape.slices(), {whole.grad + at, whole.x + at, mean, rstd}, factor, a, b,
                                         whole.dx + at);
    }
    for (int64_t n = 0; n < shape.samples; ++n) put(n, c, mean, rstd, factor, a, b);
  }

  GradientSums sums(int64_t n, int64_t c, T mean, T rstd) const {
    alignas(64) T gs[kNormTile];
    alignas(64) T xs[kNormTile];
    GradientSums sum;
    for_tiles(shape.slice(n, c), shape.spatial_size, [&](int64_t first, int64_t count) {
      const GradientSums part = kernel.gradient_sums(grad->read(first, count, gs), x->read(first, count, xs),
                                                     static_cast<size_t>(count), mean, rstd, nullptr);
      sum.g += part.g;
      sum.gz += part.gz;
    });
    return sum;
  }

  void put(int64_t n, int64_t c, T mean, T rstd, T factor, T a, T b) const {
    alignas(64) T gs[kNormTile];
    alignas(64) T xs[kNormTile];
    for_tiles(shape.slice(n, c), shape.spatial_size, [&](int64_t first, int64_t count) {
      const T* g = grad->read(first, count, gs);
      const T* v = x->read(first, count, xs);
      T* to = dx->location(first, count, xs);
      kernel.gradient(g, v, static_cast<size_t>(count), mean, rstd, nullptr, factor, a, b, to);
      dx->put(first, count, to);
    });
  }

  Status open_all(const aclTensor& g, const aclTensor& in, const aclTensor* w, const aclTensor* gx, const aclTensor* gw,
                  const aclTensor* gb) {
    SOFTNPU_RETURN_IF_ERROR(open_image(&g, "the gradient", shape, &grad));
    SOFTNPU_RETURN_IF_ERROR(open_image(&in, "the input", shape, &x));
    SOFTNPU_RETURN_IF_ERROR(open(w, "the weight", shape.channels, &weight));
    SOFTNPU_RETURN_IF_ERROR(open_image(gx, "the input's gradient", shape, &dx));
    SOFTNPU_RETURN_IF_ERROR(open(gw, "the weight's gradient", shape.channels, &dweight));
    return open(gb, "the bias's gradient", shape.channels, &dbias);
  }
};

template <typename Task>
void hand_out(std::shared_ptr<Task> task, const Channels& shape, const aclTensor& x, Plan* plan) {
  plan->work = kNormFlops * static_cast<double>(shape.count());
  plan->describe = [message = describe(x)] { return "(" + message + ")"; };
  plan->run = [task = std::shared_ptr<const Task>(std::move(task))](void* workspace) {
    if constexpr (requires { task->run(workspace); }) {
      task->run(workspace);
    } else {
      (void)workspace;
      task->run();
    }
    return Status::ok();
  };
}

}  // namespace softnpu
