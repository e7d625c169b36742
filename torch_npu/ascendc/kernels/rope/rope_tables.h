#pragma once
// cos and sin of some positions in local memory, as float32.

#include "rope_chunks.h"

namespace {

using namespace kernels;

// `Table` is their type in global memory.
template <typename Table>
class RopeTables {
 public:
  __aicore__ inline void Init(GM_ADDR cos, GM_ADDR sin, const RopeTiling& tiling, TPipe* pipe) {
    all_pairs_ = tiling.pairs;
    capacity_ = tiling.table_elements;
    direction_ = tiling.direction;
    const uint64_t count = static_cast<uint64_t>(tiling.positions) * tiling.pairs;
    cos_.SetGlobalBuffer((__gm__ Table*)cos, count);
    sin_.SetGlobalBuffer((__gm__ Table*)sin, count);
    pipe->InitBuffer(queue_, 2, 2 * capacity_ * sizeof(Table));
    pipe->InitBuffer(widened_, 3 * capacity_ * sizeof(float));
  }

  // Loads `pairs` numbers from `pair` on of each position.
  __aicore__ inline void Load(uint32_t position, uint32_t positions, uint32_t pair, uint32_t pairs) {
    CopyIn(position, positions, pair, pairs);
    Compute(positions * pitch_);
  }

  // A row of Pitch() numbers for each position. In Sin() they have the sign of the direction.
  __aicore__ inline LocalTensor<float> Cos() const { return widened_.template Get<float>(); }
  __aicore__ inline LocalTensor<float> Sin() const { return Cos()[capacity_]; }
  __aicore__ inline LocalTensor<float> MinusSin() const { return Cos()[2 * capacity_]; }
  __aicore__ inline uint32_t Pitch() const { return pitch_; }

 private:
  __aicore__ inline void CopyIn(uint32_t position, uint32_t positions, uint32_t pair, uint32_t pairs) {
    pitch_ = AlignUp(pairs, 16u);
    const Pieces rows = {positions, pairs, all_pairs_ - pairs, pitch_};
    const uint64_t first = static_cast<uint64_t>(position) * all_pairs_ + pair;
    LocalTensor<Table> both = queue_.template AllocTensor<Table>();
    LoadPieces(both, cos_[first], rows);
    LoadPieces(both[capacity_], sin_[first], rows);
    queue_.EnQue(both);
  }

  __aicore__ inline void Compute(uint32_t count) {
    LocalTensor<Table> both = queue_.template DeQue<Table>();
    if constexpr (std::is_same_v<Table, float>) {
      Muls(Cos(), both, 1.0f, count);
      Muls(Sin(), both[capacity_], direction_, count);
    } else {
      Cast(Cos(), both, RoundMode::CAST_NONE, count);
      Cast(Sin(), both[capacity_], RoundMode::CAST_NONE, count);
      Muls(Sin(), Sin(), direction_, count);
    }
    Muls(MinusSin(), Sin(), -1.0f, count);
    queue_.FreeTensor(both);
  }

  TQue<QuePosition::VECIN, 2> queue_;  // cos, then sin
  TBuf<> widened_;
  GlobalTensor<Table> cos_, sin_;
  uint32_t all_pairs_ = 0, capacity_ = 0, pitch_ = 0;
  float direction_ = 1;
};

}  // namespace
