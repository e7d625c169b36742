// Where sampling by vectors serves.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "ops/core/dtype.h"
#include "ops/nn/grid_sample/algorithms.h"
#include "ops/nn/grid_sample/vectors.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// The step from each position to the next one, in elements, if it is the same everywhere.
std::optional<int64_t> even_step(const Image& image) {
  std::optional<int64_t> step;
  int64_t next = 0;
  for (size_t d = 3; d-- > 0;) {
    if (image.sizes[d] == 1) continue;
    if (!step) {
      step = image.strides[d];
    } else if (image.strides[d] != next) {
      return std::nullopt;
    }
    next = image.strides[d] * image.sizes[d];
  }
  return step.value_or(0);
}

// The distance of an image's first element from its last, which no stride precedes.
Checked span_of(const Image& image) {
  Checked span = checked(std::abs(image.channel_stride)) * std::max<int64_t>(image.channels - 1, 0);
  for (size_t d = 0; d < 3; ++d) span = span + checked(std::abs(image.strides[d])) * (image.sizes[d] - 1);
  return span;
}

// Whether an image's elements fill their memory, which then can be set to 0 at once.
bool fills_memory(const Image& image) { return span_of(image).is(image.channels * image.spatial_size() - 1); }

template <typename T>
SampledTensor<T> sampled(const Image& image, int64_t step) {
  return {reinterpret_cast<T*>(image.data), image.batch_stride, image.channel_stride, {0, 0, step}};
}

template <typename T>
SampledTensor<T> sampled(const Image& image) {
  return {reinterpret_cast<T*>(image.data), image.batch_stride, image.channel_stride, image.strides};
}

int64_t blocks_of(int64_t positions) { return (positions + kSampledBlock - 1) / kSampledBlock; }

// Whether the places of a block's images are numbers of a lane.
template <typename T>
bool has_lane_places(const Image& image, int64_t positions) {
  using Location = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  const int64_t images = (kSampledBlock - 1) / std::max<int64_t>(positions, 1) + 1;
  const Checked most = checked(images) * std::abs(image.batch_stride) + span_of(image);
  return most.fits() && most.value() <= std::numeric_limits<Location>::max();
}

struct Gradients {
  Image in;
  Image grid;
};

template <typename T>
Attempt<GridSampleVectors<T>> vectors_of(const GridSampleProblem& p, const Gradients& result) {
  if (p.mode == GridMode::kCubic) return Refusal{"cubic interpolation"};
  const std::optional<int64_t> grid = even_step(p.grid);
  const std::optional<int64_t> out = even_step(p.out);
  if (!grid || !out) return Refusal{"the steps of the grid or the result are uneven"};
  GridSampleVectors<T> s;
  s.dims = p.dims;
  s.batch = p.batch;
  s.channels = p.in.channels;
  s.positions = p.out.spatial_size();
  s.is_linear = p.mode == GridMode::kLinear;
  s.padding = p.padding;
  s.align_corners = p.align_corners;
  s.sizes = p.in.sizes;
  s.in = sampled<T>(p.in);
  s.grid = sampled<T>(p.grid, *grid);
  s.out = sampled<T>(p.out, *out);
  if (!has_lane_places<T>(p.in, s.positions)) return Refusal{"the input is too large"};
  if (result.in.data != nullptr) {
    if (!fills_memory(result.in)) return Refusal{"the input's gradient has gaps"};
    if (!has_lane_places<T>(result.in, s.positions)) return Refusal{"the input is too large"};
    s.in_grad = sampled<T>(result.in);
  }
  if (result.grid.data != nullptr) {
    const std::optional<int64_t> step = even_step(result.grid);
    if (!step) return Refusal{"the steps of the grid's gradient are uneven"};
    s.grid_grad = sampled<T>(result.grid, *step);
  }
  return s;
}

// Operations, for the choice of the number of threads: a tap's place is known by about eight.
double work_of(const GridSampleProblem& p) {
  const double taps = p.mode == GridMode::kNearest ? 1 : p.dims == 2 ? 4 : 8;
  return taps * static_cast<double>(p.batch * p.out.spatial_size()) * static_cast<double>(p.in.channels + 8);
}

// Positions per piece of a loop: whole blocks, about four pieces a thread.
int64_t chunk_of(int64_t positions, int threads) {
  return kSampledBlock * std::max<int64_t>(1, blocks_of(positions) / (int64_t{4} * threads));
}

// Calls work(part) for all positions; where there are fewer blocks than threads, channels are divided, too.
template <typename Work>
void for_positions(int64_t positions, int64_t channels, int threads, const Work& work) {
  const int64_t blocks = blocks_of(positions);
  const int64_t shares = std::clamp<int64_t>((threads + blocks - 1) / blocks, 1, std::max<int64_t>(1, channels));
  if (shares == 1) {
    return parallel_for(positions, chunk_of(positions, threads), threads, [&](int64_t first, int64_t last) {
      work({first, last, 0, channels});
    });
  }
  parallel_for(shares, 1, threads, [&](int64_t first, int64_t last) {
    work({0, positions, channels * first / shares, channels * last / shares});
  });
}

template <typename T>
void clear(const GridSampleVectors<T>& s, const Image& in_grad, int64_t first, int64_t last) {
  const int64_t count = in_grad.channels * in_grad.spatial_size();
  for (int64_t n = first; n < last; ++n) std::fill_n(s.in_grad.data + n * s.in_grad.batch_stride, count, T{});
}

template <typename T>
void run_backward(const GridSampleVectors<T>& s, const Image& in_grad, int threads) {
  const int64_t positions = s.batch * s.positions;
  if (s.in_grad.data != nullptr && s.batch >= threads) {
    // Images are independent; both gradients are computed at once.
    const int64_t images = std::max<int64_t>(1, s.batch / (4 * threads));
    return parallel_for(s.batch, images, threads, [&](int64_t first, int64_t last) {
      clear(s, in_grad, first, last);
      sample_vectors_backward(s, {first * s.positions, last * s.positions, 0, s.channels});
    });
  }
  if (s.in_grad.data != nullptr) {
    GridSampleVectors<T> of_input = s;
    of_input.grid_grad.data = nullptr;
    const int64_t shares = std::clamp<int64_t>(threads, 1, std::max<int64_t>(1, s.channels));
    clear(s, in_grad, 0, s.batch);
    parallel_for(shares, 1, threads, [&](int64_t first, int64_t last) {
      sample_vectors_backward(of_input, {0, positions, s.channels * first / shares, s.channels * last / shares});
    });
  }
  if (s.grid_grad.data == nullptr) return;
  GridSampleVectors<T> of_grid = s;
  of_grid.in_grad.data = nullptr;
  parallel_for(positions, chunk_of(positions, threads), threads, [&](int64_t first, int64_t last) {
    sample_vectors_backward(of_grid, {first, last, 0, s.channels});
  });
}

template <typename Body>
Attempt<Plan> with_vectors(const GridSampleProblem& p, const Gradients& result, double work, const Body& body) {
  const auto plan_with = [&]<typename T>() -> Attempt<Plan> {
    Attempt<GridSampleVectors<T>> attempt = vectors_of<T>(p, result);
    if (!attempt) return Refusal{attempt.why()};
    Plan plan;
    plan.work = work;
    const int threads = threads_for(work);
    plan.run = [s = *std::move(attempt), in_grad = result.in, threads, body](void*) {
      if (s.batch * s.positions > 0) body(s, in_grad, threads);
      return Status::ok();
    };
    return plan;
  };
  if (p.in.dtype == ACL_FLOAT) return plan_with.template operator()<float>();
  if (p.in.dtype == ACL_DOUBLE) return plan_with.template operator()<double>();
  return Refusal{"the dtype is converted"};
}

}  // namespace

Attempt<Plan> vector_grid_sample(const GridSampleProblem& p) {
  return with_vectors(p, {}, work_of(p), [](const auto& s, const Image&, int threads) {
    for_positions(s.batch * s.positions, s.channels, threads,
                  [&](const SampledPart& part) { sample_vectors(s, part); });
  });
}

Attempt<Plan> vector_grid_sample_backward(const GridSampleGradients& gradients) {
  const GridSampleProblem& p = gradients.problem;
  if (p.out.spatial_size() == 0) return Refusal{"the result has no positions"};
  return with_vectors(p, {gradients.in, gradients.grid}, 4 * work_of(p),
                      [](const auto& s, const Image& result, int threads) { run_backward(s, result, threads); });
}

}  // namespace softnpu
