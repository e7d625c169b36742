#pragma once
// Copies between global and local memory, and within local memory. Sources: their use in Ascend/samples, DrivingSDK and
// sgl-kernel-npu kernels.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <source_location>

#include "ascendc/copy_params.h"
#include "ascendc/mask.h"
#include "ascendc/tensor.h"
#include "softnpu_kernel/copy.h"
#include "softnpu_kernel/positions.h"

namespace AscendC {
namespace copying {

using softnpu::kernel::CopyInstruction;
using softnpu::kernel::kBlockBytes;

inline CopyInstruction instruction(const char* name, softnpu::kernel::Pipe pipe, uint32_t element_bytes,
                                   const std::source_location& where) {
  auto result = softnpu::kernel::make_instruction<CopyInstruction>(name, pipe, &softnpu::kernel::execute_copy,
                                                                   &softnpu::kernel::touch_copy, where);
  result.element_bytes = element_bytes;
  return result;
}

template <typename T>
CopyInstruction between(const char* name, const LocalTensor<T>& to, const GlobalTensor<T>& from,
                        const std::source_location& where) {
  CopyInstruction result = instruction(name, softnpu::kernel::Pipe::kMte2, sizeof(T), where);
  result.destination = to.memory();
  result.source = from.memory();
  result.is_global_source = true;
  return result;
}
template <typename T>
CopyInstruction between(const char* name, const GlobalTensor<T>& to, const LocalTensor<T>& from,
                        const std::source_location& where) {
  if (from.GetPosition() == TPosition::CO1)
    softnpu::kernel::fail("DataCopy from CO1: it takes DataCopyEnhancedParams with BLOCK_MODE_MATRIX", where);
  CopyInstruction result = instruction(name, softnpu::kernel::Pipe::kMte3, sizeof(T), where);
  result.destination = to.memory();
  result.source = from.memory();
  result.is_global_destination = true;
  result.buffer_bytes = to.buffer_bytes();
  result.atomic = softnpu::kernel::current_block()->atomic;
  return result;
}
template <typename T>
CopyInstruction between(const char* name, const LocalTensor<T>& to, const LocalTensor<T>& from,
                        const std::source_location& where) {
  if (from.GetPosition() == TPosition::CO1)
    softnpu::kernel::fail("DataCopy from CO1: it takes DataCopyEnhancedParams with BLOCK_MODE_MATRIX", where);
  const auto pipe = softnpu::kernel::local_copier(from.GetPosition(), to.GetPosition());
  CopyInstruction result = instruction(name, pipe, sizeof(T), where);
  result.destination = to.memory();
  result.source = from.memory();
  return result;
}

// Each of the following completes an instruction: bursts whose lengths and gaps are counted in blocks.
inline void set_blocks(CopyInstruction* result, const DataCopyParams& params) {
  result->bursts = params.blockCount;
  result->burst_bytes = params.blockLen * kBlockBytes;
  result->source_step = (uint64_t{params.blockLen} + params.srcStride) * kBlockBytes;
  result->destination_step = (uint64_t{params.blockLen} + params.dstStride) * kBlockBytes;
  result->most_bursts = 4095;
  result->most_burst_bytes = 65535 * kBlockBytes;
}

// `count` elements: whole blocks of them.
inline void set_count(CopyInstruction* result, uint32_t count) {
  result->bursts = 1;
  result->count = count;
  result->burst_bytes = static_cast<uint32_t>(uint64_t{count} * result->element_bytes / kBlockBytes * kBlockBytes);
  result->most_bursts = 1;
  result->most_burst_bytes = 65535 * kBlockBytes;
}

constexpr uint64_t blocks_up(uint64_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes; }

// Bursts of any number of bytes, each of which begins and ends a block in local memory.
template <typename Params>
void set_bytes(CopyInstruction* result, const Params& params) {
  result->bursts = params.blockCount;
  result->burst_bytes = params.blockLen;
  result->most_bursts = 4095;
  result->most_burst_bytes = sizeof(params.blockLen) == 2 ? 65535 : (1 << 21) - 1;
}
template <typename Params, typename Padding, typename Value>
void set_padded(CopyInstruction* result, const Params& params, const Padding& padding, const Value& value) {
  set_bytes(result, params);
  if (padding.isPad) {
    result->left_bytes = padding.leftPadding * result->element_bytes;
    result->right_bytes = padding.rightPadding * result->element_bytes;
    std::memcpy(&result->value, &value, std::min(sizeof(value), sizeof(result->value)));
  }
  result->padding = padding.isPad ? CopyInstruction::Padding::kValue : CopyInstruction::Padding::kFirst;
  const uint64_t bytes = uint64_t{result->left_bytes} + params.blockLen + result->right_bytes;
  result->fill_bytes = static_cast<uint32_t>(blocks_up(bytes) - bytes);
  result->source_step = uint64_t{params.blockLen} + params.srcStride;
  result->destination_step = blocks_up(bytes) + uint64_t{params.dstStride} * kBlockBytes;
}
template <typename Params>
void set_unpadded(CopyInstruction* result, const Params& params) {
  set_bytes(result, params);
  result->source_step = blocks_up(params.blockLen) + uint64_t{params.srcStride} * kBlockBytes;
  result->destination_step = uint64_t{params.blockLen} + params.dstStride;
}

}  // namespace copying

// `count` elements, of which those that fill blocks of 32 bytes are copied.
template <typename T>
void DataCopy(const LocalTensor<T>& to, const GlobalTensor<T>& from, uint32_t count,
              const std::source_location& where = std::source_location::current()) {
  auto result = copying::between("DataCopy", to, from, where);
  copying::set_count(&result, count);
  softnpu::kernel::issue(result);
}
template <typename T>
void DataCopy(const GlobalTensor<T>& to, const LocalTensor<T>& from, uint32_t count,
              const std::source_location& where = std::source_location::current()) {
  auto result = copying::between("DataCopy", to, from, where);
  copying::set_count(&result, count);
  softnpu::kernel::issue(result);
}
template <typename T>
void DataCopy(const LocalTensor<T>& to, const LocalTensor<T>& from, uint32_t count,
              const std::source_location& where = std::source_location::current()) {
  auto result = copying::between("DataCopy", to, from, where);
  copying::set_count(&result, count);
  softnpu::kernel::issue(result);
}

template <typename T>
void DataCopy(const LocalTensor<T>& to, const GlobalTensor<T>& from, const DataCopyParams& params,
              const std::source_location& where = std::source_location::current()) {
  auto result = copying::between("DataCopy", to, from, where);
  copying::set_blocks(&result, params);
  softnpu::kernel::issue(result);
}
template <typename T>
void DataCopy(const GlobalTensor<T>& to, const LocalTensor<T>& from, const DataCopyParams& params,
              const std::source_location& where = std::source_location::current()) {
  auto result = copying::between("DataCopy", to, from, where);
  copying::set_blocks(&result, params);
  softnpu::kernel::issue(result);
}
template <typename T>
void DataCopy(const LocalTensor<T>& to, const LocalTensor<T>& from, const DataCopyParams& params,
              const std::source_location& where = std::source_location::current()) {
  auto result = copying::between("DataCopy", to, from, where);
  copying::set_blocks(&result, params);
  softnpu::kernel::issue(result);
}

// Each burst fills whole blocks of local memory: padding, its bytes, padding. Bytes behind the right padding, and all
// padding where isPad is false, are not the kernel's to choose.
template <typename T>
void DataCopyPad(const LocalTensor<T>& to, const GlobalTensor<T>& from, const DataCopyParams& params,
                 const DataCopyPadParams& padding,
                 const std::source_location& where = std::source_location::current()) {
  auto result = copying::between("DataCopyPad", to, from, where);
  copying::set_padded(&result, params, padding, padding.paddingValue);
  softnpu::kernel::issue(result);
}
template <typename T>
void DataCopyPad(const LocalTensor<T>& to, const GlobalTensor<T>& from, const DataCopyExtParams& params,
                 const DataCopyPadExtParams<T>& padding,
                 const std::source_location& where = std::source_location::current()) {
  auto result = copying::between("DataCopyPad", to, from, where);
  copying::set_padded(&result, params, padding, padding.paddingValue);
  softnpu::kernel::issue(result);
}
// Each burst begins a block of local memory.
template <typename T>
void DataCopyPad(const GlobalTensor<T>& to, const LocalTensor<T>& from, const DataCopyParams& params,
                 const std::source_location& where = std::source_location::current()) {
  auto result = copying::between("DataCopyPad", to, from, where);
  copying::set_unpadded(&result, params);
  softnpu::kernel::issue(result);
}
template <typename T>
void DataCopyPad(const GlobalTensor<T>& to, const LocalTensor<T>& from, const DataCopyExtParams& params,
                 const std::source_location& where = std::source_location::current()) {
  auto result = copying::between("DataCopyPad", to, from, where);
  copying::set_unpadded(&result, params);
  softnpu::kernel::issue(result);
}

namespace copying {

template <typename T>
softnpu::kernel::MaskedCopyInstruction masked(const LocalTensor<T>& to, const LocalTensor<T>& from,
                                              const softnpu::kernel::RepeatMask& mask, uint32_t repeats,
                                              const CopyRepeatParams& params, const std::source_location& where) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Copy: elements of 2 or 4 bytes");
  auto result = softnpu::kernel::make_instruction<softnpu::kernel::MaskedCopyInstruction>(
      "Copy", softnpu::kernel::Pipe::kV, &softnpu::kernel::execute_masked_copy, &softnpu::kernel::touch_masked_copy,
      where);
  result.destination = to.memory();
  result.source = from.memory();
  result.mask = mask;
  result.element_bytes = sizeof(T);
  result.repeats = inner::repeats_of_call(repeats);
  result.destination_stride = params.dstStride;
  result.source_stride = params.srcStride;
  result.destination_repeat = params.dstRepeatSize;
  result.source_repeat = params.srcRepeatSize;
  return result;
}

}  // namespace copying

// The masked elements of each repeat. `mask`: the number of elements from the first on, or, with `sets_mask` false,
// MASK_PLACEHOLDER: the core's mask.
template <typename T, bool sets_mask = true>
void Copy(const LocalTensor<T>& to, const LocalTensor<T>& from, uint64_t mask, uint32_t repeats,
          const CopyRepeatParams& params, const std::source_location& where = std::source_location::current()) {
  softnpu::kernel::issue(copying::masked(to, from, inner::mask_for<sets_mask, T>(mask, where), repeats, params, where));
}
// `mask`: bit i is element i of each repeat, the first word first.
template <typename T, bool sets_mask = true>
void Copy(const LocalTensor<T>& to, const LocalTensor<T>& from, const uint64_t (&mask)[2], uint32_t repeats,
          const CopyRepeatParams& params, const std::source_location& where = std::source_location::current()) {
  softnpu::kernel::issue(copying::masked(to, from, inner::mask_for<sets_mask, T>(mask, where), repeats, params, where));
}

}  // namespace AscendC
