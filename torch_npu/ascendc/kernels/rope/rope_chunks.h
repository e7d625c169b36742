#pragma once
// Pieces of rows in local memory, where each begins at a multiple of a pitch.

#include "../rows.h"

namespace kernels {

struct Pieces {
  uint32_t number;  // 1 to 4095
  uint32_t length;  // elements
  uint32_t gap;     // elements of global memory between two pieces
  uint32_t pitch;   // elements of local memory: `length` rounded up to whole blocks, or a block more

  // Of all elements, if nothing is between the pieces; else of one.
  template <typename T>
  __aicore__ inline uint32_t BurstBytes() const {
    return (IsOne() ? number * length : length) * sizeof(T);
  }
  __aicore__ inline uint16_t Bursts() const { return static_cast<uint16_t>(IsOne() ? 1 : number); }
  // Blocks that the pitch has more than the piece.
  template <typename T>
  __aicore__ inline uint32_t EmptyBlocks() const {
    constexpr uint32_t kBlock = 32;
    return IsOne() ? 0 : (pitch * sizeof(T) - AlignUp(length * sizeof(T), kBlock)) / kBlock;
  }
  // No gaps and no padding.
  __aicore__ inline bool IsOne() const { return gap == 0 && pitch == length; }
};

// What is behind a piece up to the next one gets values, which do not matter.
template <typename T>
__aicore__ inline void LoadPieces(const LocalTensor<T>& to, const GlobalTensor<T>& from, const Pieces& pieces) {
  const uint8_t padding = static_cast<uint8_t>(pieces.EmptyBlocks<T>() * 32 / sizeof(T));
  const uint32_t gap = pieces.gap * sizeof(T);
  const DataCopyExtParams bursts{pieces.Bursts(), pieces.BurstBytes<T>(), gap, 0, 0};
  DataCopyPad(to, from, bursts, DataCopyPadExtParams<T>{padding > 0, 0, padding, T(0.0f)});
}
template <typename T>
__aicore__ inline void StorePieces(const GlobalTensor<T>& to, const LocalTensor<T>& from, const Pieces& pieces) {
  const uint32_t gap = pieces.gap * sizeof(T);
  DataCopyPad(to, from, DataCopyExtParams{pieces.Bursts(), pieces.BurstBytes<T>(), pieces.EmptyBlocks<T>(), gap, 0});
}

}  // namespace kernels
