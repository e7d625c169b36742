#pragma once
// A convolution in terms of memory. A transposed convolution is the gradient of another one, so all are described as
// the one that computes the smaller image, `out`, from the larger one, `in`.

#include <array>
#include <cstdint>
#include <string>

#include "base/small_vector.h"
#include "nnopbase/plan.h"
#include "nnopbase/tensor.h"
#include "ops/core/format/nc1hwc0.h"

namespace softnpu {

using Triple = std::array<int64_t, 3>;  // depth, height, width; missing dimensions come first

// Images [batch, channels, depth, height, width]. Strides in elements.
struct Image {
  aclDataType dtype = ACL_DT_UNDEFINED;
  char* data = nullptr;
  int64_t channels = 0;
  int64_t batch_stride = 0;
  int64_t channel_stride = 0;
  Triple sizes = {1, 1, 1};
  Triple strides = {0, 0, 0};
  bool is_blocked = false;  // NC1HWC0: strides are unused

  int64_t spatial_size() const { return sizes[0] * sizes[1] * sizes[2]; }
  // From the first channel to `channel`, in elements.
  int64_t channel_offset(int64_t channel) const {
    if (!is_blocked) return channel * channel_stride;
    return channel / kImageBlock * spatial_size() * kImageBlock + channel % kImageBlock;
  }
};

// [channels of out, channels of in / groups, kernel]
struct Filter {
  aclDataType dtype = ACL_DT_UNDEFINED;
  char* data = nullptr;
  softnpuRange source = {};  // device addresses
  int64_t out_stride = 0;
  int64_t in_stride = 0;
  Triple sizes = {1, 1, 1};
  Triple strides = {0, 0, 0};

  int64_t taps() const { return sizes[0] * sizes[1] * sizes[2]; }
  // Whether the taps of one channel are contiguous, in two dimensions.
  bool has_contiguous_taps() const { return strides[2] == 1 && strides[1] == sizes[2]; }
};

enum class ConvKind : int64_t {
  kForward,        // out from in and filter
  kInputGradient,  // in from out and filter
  kFilterGradient  // filter from in and out
};

struct ConvProblem {
  ConvKind kind = ConvKind::kForward;
  aclDataType dtype = ACL_DT_UNDEFINED;
  size_t dims = 2;  // spatial dimensions: 1, 2 or 3
  int64_t batch = 0;
  int64_t groups = 1;
  Image in;
  Image out;
  Filter filter;
  Triple stride = {1, 1, 1};
  Triple padding = {0, 0, 0};
  Triple dilation = {1, 1, 1};
  // Added to each channel of the result; null if there is none.
  const char* bias = nullptr;
  int64_t bias_stride = 0;
  aclDataType bias_dtype = ACL_DT_UNDEFINED;
  bool allows_less = false;  // lower precision than float32 is allowed (cubeMathType)
  bool splits = false;       // then factors are split (ops/blas/matmul/split.h), if there are enough channels

  int64_t in_channels() const { return in.channels / groups; }    // per group
  int64_t out_channels() const { return out.channels / groups; }  // per group
  const Image& output() const { return kind == ConvKind::kForward ? out : in; }
  double flops() const;
};

// Whether the planes of `batch` images, one for each channel, are contiguous and one behind another.
bool has_dense_planes(const Image& image, int64_t batch);

// How many of `batch` images to compute per run, a divisor of `batch`, so that they stay in the caches between kernels.
// `bytes`: read and written per image.
int64_t images_at_once(int64_t batch, int64_t bytes);

std::string describe(const ConvProblem& problem);

// A dimension in memory.
struct Extent {
  int64_t size = 1;
  int64_t stride = 0;
};
using Extents = SmallVector<Extent, 6>;
Extents extents_of(const Image& image, int64_t batch);
Extents extents_of(const Filter& filter, int64_t out_channels, int64_t in_channels);
// The memory from the first to the last element, which is read; of a bias, which must exist.
MemoryAccess memory_of(const Extents& extents, const char* data, size_t element_bytes);
MemoryAccess bias_access(const ConvProblem& problem);
// Copies the bias, which must exist, to `to` as float32.
void read_bias(const ConvProblem& problem, float* to);
// Whether the elements have no gaps from the first to the last one.
bool is_dense(const Extents& extents);

// The address of `tensor` for host kernels; null if it has no elements.
Status memory_of(const aclTensor& tensor, const char* role, char** out);
// Reads `tensor` as [batch, channels, `dims` spatial dimensions]; the batch may be missing.
Status read_image(const aclTensor& tensor, size_t dims, const char* role, int64_t* batch, Image* out);
// The same for a tensor that may be in NC1HWC0 if `dims` is 2.
Status read_any_image(const aclTensor& tensor, size_t dims, const char* role, int64_t* batch, Image* out);

}  // namespace softnpu
