// Convolutions in every dtype: matrix products of the filter and an image, whose rows are gathered on the fly (implicit
// im2col).

#include <algorithm>
#include <complex>
#include <cstring>
#include <memory>

#include "opgen/onednn_present.h"
#include "ops/blas/gemm/block.h"
#include "ops/blas/gemm/gemm.h"
#include "ops/core/dtype.h"
#include "ops/nn/conv/rows.h"
#include "ops/nn/conv/step.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

static_assert(ImageRows::kMaxPositions >= static_cast<int64_t>(std::max(kGemmColumns, kGemmDepth)));

// Copies `count` values of `bytes` each from `row` to `to`, with a distance of `pitch` values in `to`.
void spread(const char* row, int64_t count, char* to, int64_t pitch, int64_t bytes) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * pitch * bytes, row + i * bytes, static_cast<size_t>(bytes));
  }
}

class ConvPart : public GemmSource {
 public:
  explicit ConvPart(const ConvProblem& problem)
      : p(problem),
        rows(problem),
        value_bytes(static_cast<int64_t>(compute_type_size(compute_type_of(problem.dtype)))) {}

 protected:
  const ConvProblem& p;
  const ImageRows rows;
  const int64_t value_bytes;
};

// The filter as a factor of the sum over [input channels, taps].
class FilterSource final : public ConvPart {
 public:
  explicit FilterSource(const ConvProblem& problem) : ConvPart(problem), reader_(problem.filter.dtype, problem.dtype) {}

  void pack(int64_t batch, int64_t k, int64_t depth, int64_t j, int64_t count, void* to, int64_t pitch) const override {
    const Filter& f = p.filter;
    const bool forward = p.kind == ConvKind::kForward;
    const int64_t group = batch % p.groups;
    const int64_t along_sum = forward ? f.in_stride : f.out_stride;
    const int64_t along_lines = forward ? f.out_stride : f.in_stride;
    const auto size = static_cast<int64_t>(aclDataTypeSize(f.dtype));
    for (int64_t x = 0; x < depth; ++x) {
      const Tap tap = tap_of(f, k + x);
      int64_t from = group * p.out_channels() * f.out_stride + tap.channel * along_sum + j * along_lines;
      for (size_t i = 0; i < 3; ++i) from += tap.at[i] * f.strides[i];
      reader_.read(f.data + from * size, along_lines * size, static_cast<size_t>(count),
                   static_cast<char*>(to) + x * pitch * value_bytes);
    }
  }

 private:
  ElementReader reader_;
};

// An image as a factor of the same sum, for the positions of the other image.
class ImageSource final : public ConvPart {
 public:
  using ConvPart::ConvPart;

  void pack(int64_t batch, int64_t k, int64_t depth, int64_t j, int64_t count, void* to, int64_t pitch) const override {
    const int64_t image = batch / p.groups;
    const int64_t group = batch % p.groups;
    for (int64_t x = 0; x < depth; ++x) {
      const Tap tap = tap_of(p.filter, k + x);
      char* row = static_cast<char*>(to) + x * pitch * value_bytes;
      if (p.kind == ConvKind::kForward) {
        rows.in_seen_from_out(image, group * p.in_channels() + tap.channel, tap.at, j, count, row);
      } else {
        rows.out_seen_from_in(image, group * p.out_channels() + tap.channel, tap.at, j, count, row);
      }
    }
  }
};

// For the filter's gradient the sum runs over [batch, positions of out].
class GradientSource final : public ConvPart {
 public:
  GradientSource(const ConvProblem& problem, bool of_in) : ConvPart(problem), of_in_(of_in) {}

  void pack(int64_t group, int64_t k, int64_t depth, int64_t j, int64_t count, void* to, int64_t pitch) const override {
    alignas(16) char row[ImageRows::kMaxPositions * 16];
    const int64_t positions = p.out.spatial_size();
    for (int64_t x = 0; x < depth;) {
      const int64_t image = (k + x) / positions;
      const int64_t position = k + x - image * positions;
      const int64_t here = std::min(depth - x, positions - position);
      for (int64_t y = 0; y < count; ++y) {
        if (of_in_) {
          const Tap tap = tap_of(p.filter, j + y);
          rows.in_seen_from_out(image, group * p.in_channels() + tap.channel, tap.at, position, here, row);
        } else {
          rows.out(image, group * p.out_channels() + j + y, position, here, row);
        }
        spread(row, here, static_cast<char*>(to) + (x * pitch + y) * value_bytes, pitch, value_bytes);
      }
      x += here;
    }
  }

 private:
  const bool of_in_;
};

// The resulting image, with its bias.
class ImageSink final : public GemmSink {
 public:
  explicit ImageSink(const ConvProblem& problem)
      : p_(problem),
        writer_(problem.dtype, problem.output().dtype),
        bias_reader_(problem.bias == nullptr ? problem.dtype : problem.bias_dtype, problem.dtype) {}

  void store(int64_t batch, int64_t i, int64_t j, int64_t count, void* sums) const override {
    const Image& image = p_.output();
    const int64_t channel = batch % p_.groups * (image.channels / p_.groups) + i;
    with_compute_type(compute_type_of(p_.dtype), [&]<typename T>() {
      auto* values = static_cast<T*>(sums);
      add_bias(channel, values, count);
      const auto size = static_cast<int64_t>(aclDataTypeSize(image.dtype));
      Triple at = position_of(image, j);
      for (int64_t done = 0; done < count;) {
        const int64_t here = std::min(count - done, image.sizes[2] - at[2]);
        int64_t to = batch / p_.groups * image.batch_stride + image.channel_offset(channel);
        for (size_t d = 0; d < 3; ++d) to += at[d] * image.strides[d];
        writer_.write(values + done, static_cast<size_t>(here), image.data + to * size, image.strides[2] * size);
        done += here;
        at = position_of(image, j + done);
      }
    });
  }

 private:
  template <typename T>
  void add_bias(int64_t channel, T* values, int64_t count) const {
    if (p_.bias == nullptr) return;
    T bias{};
    const auto size = static_cast<int64_t>(aclDataTypeSize(p_.bias_dtype));
    bias_reader_.read(p_.bias + channel * p_.bias_stride * size, size, 1, &bias);
    for (int64_t x = 0; x < count; ++x) values[x] += bias;
  }

  const ConvProblem& p_;
  ElementWriter writer_;
  ElementReader bias_reader_;
};

class FilterSink final : public GemmSink {
 public:
  explicit FilterSink(const ConvProblem& problem) : p_(problem), writer_(problem.dtype, problem.filter.dtype) {}

  void store(int64_t group, int64_t i, int64_t j, int64_t count, void* sums) const override {
    const Filter& f = p_.filter;
    const auto size = static_cast<int64_t>(aclDataTypeSize(f.dtype));
    const auto value_bytes = static_cast<int64_t>(compute_type_size(compute_type_of(p_.dtype)));
    const int64_t row = (group * p_.out_channels() + i) * f.out_stride;
    for (int64_t x = 0; x < count; ++x) {
      const Tap tap = tap_of(f, j + x);
      int64_t to = row + tap.channel * f.in_stride;
      for (size_t d = 0; d < 3; ++d) to += tap.at[d] * f.strides[d];
      writer_.write(static_cast<char*>(sums) + x * value_bytes, 1, f.data + to * size, size);
    }
  }

 private:
  const ConvProblem& p_;
  ElementWriter writer_;
};

GemmSizes sizes_of(const ConvProblem& p) {
  const int64_t taps = p.filter.taps();
  switch (p.kind) {
    case ConvKind::kForward:
      return {p.batch * p.groups, p.out_channels(), p.out.spatial_size(), p.in_channels() * taps};
    case ConvKind::kInputGradient:
      return {p.batch * p.groups, p.in_channels(), p.in.spatial_size(), p.out_channels() * taps};
    case ConvKind::kFilterGradient: break;
  }
  return {p.groups, p.out_channels(), p.in_channels() * taps, p.batch * p.out.spatial_size()};
}

// The strides of an image in blocks: of all dimensions but the channels.
void set_block_strides(Image* image) {
  const int64_t blocks = (image->channels + kImageBlock - 1) / kImageBlock;
  image->batch_stride = blocks * image->spatial_size() * kImageBlock;
  image->strides = {0, image->sizes[2] * kImageBlock, kImageBlock};
}

// The last block's channels that the image does not have are 0.
void clear_missing_channels(const Image& image, int64_t batch) {
  const int64_t missing = (kImageBlock - image.channels % kImageBlock) % kImageBlock;
  const auto size = static_cast<int64_t>(aclDataTypeSize(image.dtype));
  if (missing == 0) return;
  for (int64_t i = 0; i < batch; ++i) {
    char* to = image.data + (i * image.batch_stride + image.channel_offset(image.channels)) * size;
    for (int64_t at = 0; at < image.spatial_size(); ++at, to += kImageBlock * size) {
      std::memset(to, 0, static_cast<size_t>(missing * size));
    }
  }
}

}  // namespace

Attempt<Step> reference_convolution(const ConvProblem& given) {
#if SOFTNPU_HAS_ONEDNN
  // oneDNN serves images in blocks. What it refuses is faster in another layout.
  if (given.in.is_blocked || given.out.is_blocked) return Refusal{"images are in blocks of channels"};
#endif
  ConvProblem problem = given;
  for (Image* image : {&problem.in, &problem.out}) {
    if (image->is_blocked) set_block_strides(image);
  }
  const GemmSizes sizes = sizes_of(problem);
  const int threads = threads_for(sizes.flops());
  return Step{0, sizes.flops(), [p = std::make_shared<const ConvProblem>(problem), sizes, threads](char*) {
                const ComputeType compute_type = compute_type_of(p->dtype);
                if (p->kind == ConvKind::kFilterGradient) {
                  gemm(compute_type, sizes, GradientSource(*p, false), GradientSource(*p, true), FilterSink(*p),
                       threads);
                } else {
                  gemm(compute_type, sizes, FilterSource(*p), ImageSource(*p), ImageSink(*p), threads);
                  if (p->output().is_blocked) clear_missing_channels(p->output(), p->batch);
                }
              }};
}

}  // namespace softnpu
