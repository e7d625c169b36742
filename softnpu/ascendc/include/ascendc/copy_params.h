#pragma once
// How copies repeat and pad. Sources: their use in DrivingSDK and sgl-kernel-npu kernels.

#include <cstdint>

namespace AscendC {

// Bursts of a copy. DataCopy counts lengths and gaps in blocks of 32 bytes. DataCopyPad counts the length and the gap
// in global memory in bytes, the gap in local memory in blocks.
struct DataCopyParams {
  DataCopyParams() = default;
  DataCopyParams(uint16_t count, uint16_t length, uint16_t source, uint16_t destination)
      : blockCount(count), blockLen(length), srcStride(source), dstStride(destination) {}

  uint16_t blockCount = 1;
  uint16_t blockLen = 0;
  // From the end of a burst to the begin of the next.
  uint16_t srcStride = 0;
  uint16_t dstStride = 0;
};

// The same for DataCopyPad, with longer bursts.
struct DataCopyExtParams {
  DataCopyExtParams() = default;
  DataCopyExtParams(uint16_t count, uint32_t length, uint32_t source, uint32_t destination, uint32_t reserved)
      : blockCount(count), blockLen(length), srcStride(source), dstStride(destination), rsv(reserved) {}

  uint16_t blockCount = 1;
  uint32_t blockLen = 0;
  uint32_t srcStride = 0;
  uint32_t dstStride = 0;
  uint32_t rsv = 0;
};

// Elements before and behind each burst in local memory, 32 bytes at most together. `paddingValue`: their bits.
struct DataCopyPadParams {
  DataCopyPadParams() = default;
  DataCopyPadParams(bool pad, uint8_t left, uint8_t right, uint64_t value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}

  bool isPad = false;
  uint8_t leftPadding = 0;
  uint8_t rightPadding = 0;
  uint64_t paddingValue = 0;
};

template <typename T>
struct DataCopyPadExtParams {
  DataCopyPadExtParams() = default;
  DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}

  bool isPad = false;
  uint8_t leftPadding = 0;
  uint8_t rightPadding = 0;
  T paddingValue = T(0);
};

// Copy(): distances in blocks of 32 bytes, of the blocks of a repeat and of the repeats.
struct CopyRepeatParams {
  CopyRepeatParams() = default;
  CopyRepeatParams(uint16_t destination, uint16_t source, uint16_t destination_repeat, uint16_t source_repeat)
      : dstStride(destination), srcStride(source), dstRepeatSize(destination_repeat), srcRepeatSize(source_repeat) {}

  uint16_t dstStride = 1;
  uint16_t srcStride = 1;
  uint16_t dstRepeatSize = 8;
  uint16_t srcRepeatSize = 8;
};

}  // namespace AscendC
