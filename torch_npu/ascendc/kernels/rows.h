#pragma once
// What the kernels of this folder share: the rows of a block, rows of any length, and float32 as the type of
// arithmetic.

#include <type_traits>

#include "kernel_operator.h"

namespace kernels {

using namespace AscendC;

// The rows [first, end) of this block: all rows, divided as evenly as they can be.
struct RowRange {
  uint32_t first;
  uint32_t end;
};
__aicore__ inline RowRange RowsOfBlock(uint32_t rows) {
  const uint64_t block = GetBlockIdx();
  const uint64_t blocks = GetBlockNum();
  return {static_cast<uint32_t>(rows * block / blocks), static_cast<uint32_t>(rows * (block + 1) / blocks)};
}

// Copies `count` elements, which need not fill blocks of 32 bytes.
template <typename T>
__aicore__ inline void LoadRow(const LocalTensor<T>& to, const GlobalTensor<T>& from, uint32_t count) {
  const DataCopyExtParams burst{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
  DataCopyPad(to, from, burst, DataCopyPadExtParams<T>{});
}
template <typename T>
__aicore__ inline void StoreRow(const GlobalTensor<T>& to, const LocalTensor<T>& from, uint32_t count) {
  DataCopyPad(to, from, DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});
}

// `from` as float32: itself, or converted into `space`.
template <typename T>
__aicore__ inline LocalTensor<float> Widen(const LocalTensor<T>& from, const LocalTensor<float>& space,
                                           uint32_t count) {
  if constexpr (std::is_same_v<T, float>) {
    return from;
  } else {
    Cast(space, from, RoundMode::CAST_NONE, count);
    return space;
  }
}
// Where results of `to` are computed in float32: `to` itself, or `space`, which Narrow() rounds.
template <typename T>
__aicore__ inline LocalTensor<float> FloatSpace(const LocalTensor<T>& to, const LocalTensor<float>& space) {
  if constexpr (std::is_same_v<T, float>) {
    return to;
  } else {
    return space;
  }
}
template <typename T>
__aicore__ inline void Narrow(const LocalTensor<T>& to, const LocalTensor<float>& from, uint32_t count) {
  if constexpr (!std::is_same_v<T, float>) Cast(to, from, RoundMode::CAST_RINT, count);
}

// The first element, which a vector instruction wrote: the scalar unit waits for it.
__aicore__ inline float FirstValue(const LocalTensor<float>& from) {
  const int32_t id = static_cast<int32_t>(GetTPipePtr()->FetchEventID(HardEvent::V_S));
  SetFlag<HardEvent::V_S>(id);
  WaitFlag<HardEvent::V_S>(id);
  return from.GetValue(0);
}

}  // namespace kernels
