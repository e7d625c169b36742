#include "ops/nn/grid_sample/algorithms.h"

#include <memory>
#include <utility>
#include <vector>

#include "ops/core/convert/element_rows.h"
#include "ops/core/dtype.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Positions per block, and the maximum number of values per position.
constexpr int64_t kBlock = 64;
constexpr int64_t kTaps = 16;

ptrdiff_t bytes_of(const Image& image) { return static_cast<ptrdiff_t>(aclDataTypeSize(image.dtype)); }

// Rows of one channel between an image and the compute type.
template <typename T>
class Channels {
 public:
  explicit Channels(const Image& image)
      : image_(image), reader_(image.dtype, image.dtype), writer_(image.dtype, image.dtype) {}

  bool is_in_place() const { return reader_.is_direct() && is_dense(); }
  // Positions [first, first + count) of a channel: in place, or copied to `room`.
  const T* read(int64_t n, int64_t c, int64_t first, int64_t count, T* room) const {
    if (is_in_place()) return reinterpret_cast<const T*>(location(n, c, first));
    rows(first, count, [&](int64_t at, int64_t length) {
      reader_.read(location(n, c, at), step(), static_cast<size_t>(length), room + (at - first));
    });
    return room;
  }
  void write(const T* values, int64_t n, int64_t c, int64_t first, int64_t count) const {
    rows(first, count, [&](int64_t at, int64_t length) {
      writer_.write(values + (at - first), static_cast<size_t>(length), location(n, c, at), step());
    });
  }

 private:
  bool is_dense() const {
    const Triple& s = image_.strides;
    return s[2] == 1 && (s[1] == image_.sizes[2] || image_.sizes[1] == 1) &&
           (s[0] == image_.sizes[1] * image_.sizes[2] || image_.sizes[0] == 1);
  }
  ptrdiff_t step() const { return image_.strides[2] * bytes_of(image_); }
  char* location(int64_t n, int64_t c, int64_t at) const {
    const Triple& sizes = image_.sizes;
    const int64_t element = n * image_.batch_stride + c * image_.channel_stride + at % sizes[2] * image_.strides[2] +
                            at / sizes[2] % sizes[1] * image_.strides[1] +
                            at / (sizes[2] * sizes[1]) * image_.strides[0];
    return image_.data + element * bytes_of(image_);
  }
  template <typename Body>
  void rows(int64_t first, int64_t count, const Body& body) const {
    const int64_t width = image_.sizes[2];
    for (int64_t at = first; at < first + count;) {
      const int64_t length = std::min(width - at % width, first + count - at);
      body(at, length);
      at += length;
    }
  }

  const Image& image_;
  ElementReader reader_;
  ElementWriter writer_;
};

// The taps of a block's positions, grouped by tap.
template <typename T>
struct BlockTaps {
  int64_t taps = 0;
  int64_t index[kTaps][kBlock];  // in a channel; -1: none
  T weight[kTaps][kBlock];
  T slope[3][kTaps][kBlock];  // by coordinate; the grid's first one is last
};

// What a thread needs for images one after another.
template <typename T>
struct Scratch {
  BlockTaps<T> taps;
  std::vector<T> values;
  std::vector<const T*> planes;
};

// Adds weighted values of a channel to the sums of a block. Missing taps add exactly 0, even if the dummy value is
// infinite or NaN.
template <typename T>
void add_taps(const BlockTaps<T>& taps, const T (*factors)[kBlock], const T* plane, int64_t count, T* sums) {
  for (int64_t k = 0; k < taps.taps; ++k) {
    const int64_t* const index = taps.index[k];
    const T* const factor = factors[k];
    for (int64_t i = 0; i < count; ++i) {
      const T term = factor[i] * plane[std::max<int64_t>(index[i], 0)];
      sums[i] += index[i] >= 0 ? term : T{};
    }
  }
}

template <typename T>
class Sampler {
 public:
  explicit Sampler(const GridSampleProblem& p)
      : p_(p), in_(p_.in), grid_(p_.grid), out_(p_.out), axes_{axis(0), axis(1), axis(2)} {}
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  int64_t positions() const { return p_.out.spatial_size(); }
  int64_t blocks() const { return (positions() + kBlock - 1) / kBlock; }
  const GridSampleProblem& problem() const { return p_; }

  // Computes all positions of channels [from, to) of an image.
  void forward(int64_t n, int64_t from, int64_t to, Scratch<T>* scratch) const {
    read_planes(n, from, to, scratch);
    BlockTaps<T>* const taps = &scratch->taps;
    T sums[kBlock];
    for (int64_t first = 0; first < positions(); first += kBlock) {
      const int64_t count = std::min(kBlock, positions() - first);
      locate<false>(n, first, count, taps);
      for (int64_t c = from; c < to; ++c) {
        const T* const plane = scratch->planes[static_cast<size_t>(c - from)];
        std::fill_n(sums, count, T{});
        add_taps(*taps, taps->weight, plane, count, sums);
        out_.write(sums, n, c, first, count);
      }
    }
  }

  void backward_input(const Channels<T>& gradient, int64_t n, int64_t from, int64_t to, Scratch<T>* scratch) const {
    const int64_t size = p_.in.spatial_size();
    std::vector<T>& planes = scratch->values;
    planes.assign(static_cast<size_t>((to - from) * size), T{});
    BlockTaps<T>* const taps = &scratch->taps;
    T room[kBlock];
    for (int64_t first = 0; first < positions(); first += kBlock) {
      const int64_t count = std::min(kBlock, positions() - first);
      locate<false>(n, first, count, taps);
      for (int64_t c = from; c < to; ++c) {
        T* const plane = planes.data() + (c - from) * size;
        const T* const grad = out_.read(n, c, first, count, room);
        for (int64_t k = 0; k < taps->taps; ++k) {
          for (int64_t i = 0; i < count; ++i) {
            if (taps->index[k][i] >= 0) plane[taps->index[k][i]] += grad[i] * taps->weight[k][i];
          }
        }
      }
    }
    for (int64_t c = from; c < to; ++c) gradient.write(planes.data() + (c - from) * size, n, c, 0, size);
  }

  // Computes the gradients for the positions of blocks [from, to).
  void backward_grid(const Channels<T>& gradient, int64_t n, int64_t from, int64_t to, Scratch<T>* scratch) const {
    const int64_t channels = p_.mode == GridMode::kNearest ? 0 : p_.in.channels;  // a step function has no gradient
    read_planes(n, 0, channels, scratch);
    BlockTaps<T>* const taps = &scratch->taps;
    T room[kBlock];
    for (int64_t first = from * kBlock; first < std::min(to * kBlock, positions()); first += kBlock) {
      const int64_t count = std::min(kBlock, positions() - first);
      locate<true>(n, first, count, taps);
      T sums[3][kBlock] = {};
      for (int64_t c = 0; c < channels; ++c) {
        const T* const grad = out_.read(n, c, first, count, room);
        for (size_t d = 3 - p_.dims; d < 3; ++d) {
          T parts[kBlock] = {};
          add_taps(*taps, taps->slope[d], scratch->planes[static_cast<size_t>(c)], count, parts);
          for (int64_t i = 0; i < count; ++i) sums[d][i] += grad[i] * parts[i];
        }
      }
      for (size_t d = 3 - p_.dims; d < 3; ++d) {
        gradient.write(sums[d], n, static_cast<int64_t>(2 - d), first, count);
      }
    }
  }

 private:
  Axis<T> axis(size_t d) const { return Axis<T>(p_.in.sizes[d], p_.mode, p_.padding, p_.align_corners); }

  // Reads channels [from, to) of the input.
  void read_planes(int64_t n, int64_t from, int64_t to, Scratch<T>* scratch) const {
    const int64_t size = p_.in.spatial_size();
    const bool is_copied = !in_.is_in_place();
    if (is_copied) scratch->values.resize(static_cast<size_t>((to - from) * size));
    scratch->planes.clear();
    for (int64_t c = from; c < to; ++c) {
      scratch->planes.push_back(
          in_.read(n, c, 0, size, is_copied ? scratch->values.data() + (c - from) * size : nullptr));
    }
  }

  template <bool kSlopes>
  void locate(int64_t n, int64_t first, int64_t count, BlockTaps<T>* out) const {
    T room[3][kBlock];
    const T* coordinates[3] = {};
    for (size_t d = 3 - p_.dims; d < 3; ++d) {
      coordinates[d] = grid_.read(n, static_cast<int64_t>(2 - d), first, count, room[d]);
    }
    for (int64_t i = 0; i < count; ++i) {
      AxisTaps<T> at[3] = {{1, {0}, {1}, {0}}, {}, {}};
      for (size_t d = 3 - p_.dims; d < 3; ++d) at[d] = axes_[d].locate(coordinates[d][i]);
      out->taps = 0;
      for (int64_t a = 0; a < at[0].count; ++a) {
        for (int64_t b = 0; b < at[1].count; ++b) {
          for (int64_t c = 0; c < at[2].count; ++c) put<kSlopes>(at, {a, b, c}, i, out);
        }
      }
    }
  }

  template <bool kSlopes>
  void put(const AxisTaps<T>* at, const Triple& which, int64_t i, BlockTaps<T>* out) const {
    const int64_t k = out->taps++;
    int64_t index[3];
    T weight[3];
    T slope[3];
    for (size_t d = 0; d < 3; ++d) {
      const auto tap = static_cast<size_t>(which[d]);
      index[d] = at[d].index[tap];
      weight[d] = at[d].weight[tap];
      slope[d] = at[d].slope[tap];
    }
    const bool is_inside = index[0] >= 0 && index[1] >= 0 && index[2] >= 0;
    out->index[k][i] = is_inside ? (index[0] * p_.in.sizes[1] + index[1]) * p_.in.sizes[2] + index[2] : -1;
    out->weight[k][i] = weight[0] * weight[1] * weight[2];
    if constexpr (kSlopes) {
      out->slope[0][k][i] = slope[0] * weight[1] * weight[2];
      out->slope[1][k][i] = weight[0] * slope[1] * weight[2];
      out->slope[2][k][i] = weight[0] * weight[1] * slope[2];
    }
  }

  GridSampleProblem p_;
  Channels<T> in_, grid_, out_;
  Axis<T> axes_[3];
};

template <typename Body>
void with_floating(aclDataType dtype, const Body& body) {
  if (compute_type_of(dtype) == ComputeType::kF64) return body.template operator()<double>();
  body.template operator()<float>();
}

// Images that a thread takes at a time: a few, if each is little work.
int64_t images_at_once(const GridSampleProblem& p, int threads) {
  constexpr int64_t kValues = 1 << 12;
  const int64_t values = p.out.spatial_size() * (p.in.channels + 1);
  return std::clamp<int64_t>(kValues / std::max<int64_t>(1, values), 1, std::max<int64_t>(1, p.batch / threads));
}

// The cost of a sampler: the values used per channel, and the computation of the taps.
double flops_of(const GridSampleProblem& p) {
  const int64_t taps = p.mode == GridMode::kCubic ? kTaps : p.mode == GridMode::kNearest ? 1 : 8;
  return 4 * static_cast<double>(taps) * static_cast<double>(p.batch * p.out.spatial_size()) *
         static_cast<double>(p.in.channels + 8);
}

// Calls body(n, from, to, scratch) for all channels of all images; only as many pieces as threads, since each computes
// the taps of all positions.
template <typename T, typename Body>
void for_channels(const GridSampleProblem& p, int threads, const Body& body) {
  const int64_t pieces = std::clamp<int64_t>((threads + p.batch - 1) / p.batch, 1, std::max<int64_t>(1, p.in.channels));
  parallel_for(p.batch * pieces, images_at_once(p, threads), threads, [&](int64_t first, int64_t last) {
    const auto scratch = std::make_unique_for_overwrite<Scratch<T>>();
    for (int64_t i = first; i < last; ++i) {
      const int64_t chunk = i % pieces;
      body(i / pieces, p.in.channels * chunk / pieces, p.in.channels * (chunk + 1) / pieces, scratch.get());
    }
  });
}

}  // namespace

Attempt<Plan> reference_grid_sample(const GridSampleProblem& problem) {
  const double flops = flops_of(problem);
  Plan plan;
  plan.work = flops;
  with_floating(problem.in.dtype, [&]<typename T>() {
    auto sampler = std::make_shared<const Sampler<T>>(problem);
    plan.run = [sampler = std::move(sampler), threads = threads_for(flops)](void*) {
      for_channels<T>(sampler->problem(), threads, [&](int64_t n, int64_t from, int64_t to, Scratch<T>* scratch) {
        sampler->forward(n, from, to, scratch);
      });
      return Status::ok();
    };
  });
  return plan;
}

Attempt<Plan> reference_grid_sample_backward(const GridSampleGradients& gradients) {
  const GridSampleProblem& problem = gradients.problem;
  const double flops = 4 * flops_of(problem);
  Plan plan;
  plan.work = flops;
  with_floating(problem.in.dtype, [&]<typename T>() {
    auto sampler = std::make_shared<const Sampler<T>>(problem);
    auto output_images = std::make_shared<const std::pair<Image, Image>>(gradients.in, gradients.grid);
    plan.run = [sampler = std::move(sampler), images = std::move(output_images), threads = threads_for(flops)](void*) {
      const GridSampleProblem& p = sampler->problem();
      if (images->first.data != nullptr) {
        const Channels<T> created(images->first);
        for_channels<T>(p, threads, [&](int64_t n, int64_t from, int64_t to, Scratch<T>* scratch) {
          sampler->backward_input(created, n, from, to, scratch);
        });
      }
      if (images->second.data == nullptr) return Status::ok();
      const Channels<T> created(images->second);
      const int64_t pieces =
          std::clamp<int64_t>((threads + p.batch - 1) / p.batch, 1, std::max<int64_t>(1, sampler->blocks()));
      parallel_for(p.batch * pieces, images_at_once(p, threads), threads, [&](int64_t first, int64_t last) {
        const auto scratch = std::make_unique_for_overwrite<Scratch<T>>();
        for (int64_t i = first; i < last; ++i) {
          const int64_t chunk = i % pieces;
          sampler->backward_grid(created, i / pieces, sampler->blocks() * chunk / pieces,
                                 sampler->blocks() * (chunk + 1) / pieces, scratch.get());
        }
      });
      return Status::ok();
    };
  });
  return plan;
}

}  // namespace softnpu
