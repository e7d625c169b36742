#pragma once
// Planes of images as weighted sums of planes: what sepia and its gradient have in common. Sums are computed in float32
// and rounded once.

#include "../rows.h"

namespace {

using namespace kernels;

constexpr uint32_t kColors = 3;
// Row i has the weights of red, green and blue in color i of the result.
constexpr double kSepia[kColors][kColors] = {{0.393, 0.769, 0.189}, {0.349, 0.686, 0.168}, {0.272, 0.534, 0.131}};

// `inputs` planes of each image become `outputs` planes. A single input is all three colors, a single output is the sum
// of all three.
template <typename T, uint32_t inputs, uint32_t outputs, bool is_transposed>
class SepiaMix {
 public:
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, const SepiaTiling& tiling) {
    pixels_ = tiling.pixels;
    tile_ = tiling.tile;
    tiles_of_image_ = (pixels_ + tile_ - 1) / tile_;
    tiles_ = RowsOfBlock(static_cast<uint32_t>(tiling.images * tiles_of_image_));
    x_.SetGlobalBuffer((__gm__ T*)x, tiling.images * inputs * pixels_);
    y_.SetGlobalBuffer((__gm__ T*)y, tiling.images * outputs * pixels_);
    const uint32_t stride = Stride(tile_);
    pipe_.InitBuffer(x_queue_, 2, inputs * stride * sizeof(T));
    pipe_.InitBuffer(y_queue_, 2, outputs * stride * sizeof(T));
    if constexpr (!std::is_same_v<T, float>) {
      pipe_.InitBuffer(widened_x_, inputs * stride * sizeof(float));
      pipe_.InitBuffer(widened_y_, outputs * stride * sizeof(float));
    }
  }

  __aicore__ inline void Process() {
    for (uint32_t i = tiles_.first; i < tiles_.end; ++i) {
      const uint64_t image = i / tiles_of_image_;
      const uint64_t pixel = i % tiles_of_image_ * tile_;
      const uint32_t count = static_cast<uint32_t>(min(pixels_ - pixel, tile_));
      CopyIn(image, pixel, count);
      Compute(Stride(count));
      CopyOut(image, pixel, count);
    }
  }

 private:
  // The weight of plane `from` in plane `to`.
  static constexpr __aicore__ inline float Weight(uint32_t to, uint32_t from) {
    double sum = 0;
    for (uint32_t i = 0; i < kColors; ++i) {
      for (uint32_t k = 0; k < kColors; ++k) {
        const bool is_part = (outputs == 1 || i == to) && (inputs == 1 || k == from);
        if (is_part) sum += is_transposed ? kSepia[k][i] : kSepia[i][k];
      }
    }
    return static_cast<float>(sum);
  }

  // From plane to plane in local memory, where each begins a block: the pixels and what fills their last block.
  static __aicore__ inline uint32_t Stride(uint32_t count) {
    return AlignUp(count, static_cast<uint32_t>(32 / sizeof(T)));
  }

  __aicore__ inline void CopyIn(uint64_t image, uint64_t pixel, uint32_t count) {
    LocalTensor<T> x = x_queue_.template AllocTensor<T>();
    for (uint32_t i = 0; i < inputs; ++i) {
      LoadRow(x[i * Stride(count)], x_[(image * inputs + i) * pixels_ + pixel], count);
    }
    x_queue_.EnQue(x);
  }

  __aicore__ inline void Compute(uint32_t stride) {
    LocalTensor<T> x = x_queue_.template DeQue<T>();
    LocalTensor<T> y = y_queue_.template AllocTensor<T>();
    const LocalTensor<float> from = Widen(x, WidenedSpace(widened_x_), inputs * stride);
    const LocalTensor<float> to = FloatSpace(y, WidenedSpace(widened_y_));
    for (uint32_t i = 0; i < outputs; ++i) {
      Muls(to[i * stride], from, Weight(i, 0), stride);
      for (uint32_t k = 1; k < inputs; ++k) Axpy(to[i * stride], from[k * stride], Weight(i, k), stride);
    }
    Narrow(y, to, outputs * stride);
    y_queue_.EnQue(y);
    x_queue_.FreeTensor(x);
  }

  __aicore__ inline void CopyOut(uint64_t image, uint64_t pixel, uint32_t count) {
    LocalTensor<T> y = y_queue_.template DeQue<T>();
    for (uint32_t i = 0; i < outputs; ++i) {
      StoreRow(y_[(image * outputs + i) * pixels_ + pixel], y[i * Stride(count)], count);
    }
    y_queue_.FreeTensor(y);
  }

  // A buffer that only 16-bit types have.
  __aicore__ inline LocalTensor<float> WidenedSpace(const TBuf<>& buffer) const {
    if constexpr (std::is_same_v<T, float>) {
      return {};
    } else {
      return buffer.template Get<float>();
    }
  }

  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> x_queue_;
  TQue<QuePosition::VECOUT, 2> y_queue_;
  TBuf<> widened_x_, widened_y_;
  GlobalTensor<T> x_, y_;
  RowRange tiles_{};
  uint64_t pixels_ = 0, tiles_of_image_ = 0;
  uint32_t tile_ = 0;
};

template <typename Kernel>
__aicore__ inline void RunKernel(GM_ADDR x, GM_ADDR y, const SepiaTiling& tiling) {
  Kernel kernel;
  kernel.Init(x, y, tiling);
  kernel.Process();
}

}  // namespace
