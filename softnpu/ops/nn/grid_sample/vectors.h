#pragma once
// Linear and nearest sampling by vectors: each lane is a position, of one image or of several small ones.

#include <array>
#include <cstddef>
#include <cstdint>

#include "ops/nn/grid_sample/grid_sample.h"

namespace softnpu {

// Where the value of a position is in a tensor. Elements, of T.
template <typename T>
struct SampledTensor {
  T* data = nullptr;
  int64_t batch_stride = 0;
  int64_t channel_stride = 0;
  Triple strides = {0, 0, 0};  // of `in`: by dimension; of the grid and the result the last one, from place to place
};

// What all blocks share. Positions of all images are numbered one after another.
template <typename T>
struct GridSampleVectors {
  size_t dims = 2;
  int64_t batch = 0;
  int64_t channels = 0;
  int64_t positions = 0;  // of an image
  bool is_linear = true;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;
  Triple sizes = {1, 1, 1};  // of `in`
  SampledTensor<T> in, grid, out;
  SampledTensor<T> in_grad, grid_grad;  // without data: not wanted
};

// Positions [first, last) of channels [c_first, c_last).
struct SampledPart {
  int64_t first;
  int64_t last;
  int64_t c_first;
  int64_t c_last;
};

template <typename T>
void sample_vectors(const GridSampleVectors<T>& s, const SampledPart& part);
// Adds to in_grad, which is 0 or has sums already, and writes the grid's gradient, the sum over the part's channels.
template <typename T>
void sample_vectors_backward(const GridSampleVectors<T>& s, const SampledPart& part);

// Positions per block: a part begins at a multiple of it, and the images of a block are at most this many.
inline constexpr int64_t kSampledBlock = 64;

}  // namespace softnpu
