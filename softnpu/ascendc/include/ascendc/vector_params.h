#pragma once
// Strides of vector instructions, in blocks of 32 bytes, and their modes.

#include <cstdint>

#include "softnpu_kernel/vector.h"

namespace AscendC {

inline constexpr uint8_t DEFAULT_BLK_STRIDE = 1;
inline constexpr uint8_t DEFAULT_REPEAT_STRIDE = 8;

// Of one source. Sources: the order of arguments in DrivingSDK and sgl-kernel-npu kernels.
struct UnaryRepeatParams {
  constexpr UnaryRepeatParams() = default;
  constexpr UnaryRepeatParams(uint16_t dst_block, uint16_t src_block, uint8_t dst_repeat, uint8_t src_repeat)
      : dstBlkStride(dst_block), srcBlkStride(src_block), dstRepStride(dst_repeat), srcRepStride(src_repeat) {}

  uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint16_t srcBlkStride = DEFAULT_BLK_STRIDE;
  uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t srcRepStride = DEFAULT_REPEAT_STRIDE;
};

// Of two sources.
struct BinaryRepeatParams {
  constexpr BinaryRepeatParams() = default;
  constexpr BinaryRepeatParams(uint8_t dst_block, uint8_t src0_block, uint8_t src1_block, uint8_t dst_repeat,
                               uint8_t src0_repeat, uint8_t src1_repeat)
      : dstBlkStride(dst_block),
        src0BlkStride(src0_block),
        src1BlkStride(src1_block),
        dstRepStride(dst_repeat),
        src0RepStride(src0_repeat),
        src1RepStride(src1_repeat) {}

  uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;
};

// CAST_NONE rounds to nearest, ties to even, where the destination cannot hold the value.
enum class RoundMode : uint8_t { CAST_NONE = 0, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC };

}  // namespace AscendC
