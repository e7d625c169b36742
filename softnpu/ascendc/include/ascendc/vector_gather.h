#pragma once
// Vector instructions that move elements by offsets, patterns and shapes. Sources: their use in DrivingSDK and
// sgl-kernel-npu kernels.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include "ascendc/mask.h"
#include "ascendc/tensor.h"
#include "softnpu_kernel/vector_gather.h"

namespace AscendC {

// Distances in blocks of 32 bytes: of the source's blocks, of its repeats, of the pattern's repeats.
struct GatherMaskParams {
  uint8_t src0BlockStride = 1;
  uint16_t repeatTimes = 0;
  uint16_t src0RepeatStride = 8;
  uint8_t src1RepeatStride = 0;
};

// Distances in blocks of 32 bytes, of the 8 blocks of a repeat and of repeats.
struct BrcbRepeatParams {
  BrcbRepeatParams() = default;
  BrcbRepeatParams(uint16_t block, uint16_t repeat) : dstBlkStride(block), dstRepStride(repeat) {}
  uint16_t dstBlkStride = 1;
  uint16_t dstRepStride = 8;
};

namespace gathering {

using Where = std::source_location;

template <typename T>
void gather(const LocalTensor<T>& dense, const LocalTensor<T>& spread, const LocalTensor<uint32_t>& offsets,
            uint32_t base, const softnpu::kernel::RepeatMask& mask, uint32_t repeats, uint32_t dense_repeat,
            const Where& where) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Gather: elements of 2 or 4 bytes");
  auto result = softnpu::kernel::make_instruction<softnpu::kernel::GatherInstruction>(
      "Gather", softnpu::kernel::Pipe::kV, &softnpu::kernel::execute_gather, &softnpu::kernel::touch_gather, where);
  result.touch_reads = true;
  result.dense = dense.memory();
  result.spread = spread.memory();
  result.offsets = offsets.memory();
  result.base = base;
  result.mask = mask;
  result.repeats = repeats;
  result.dense_repeat = dense_repeat;
  result.element_bytes = sizeof(T);
  softnpu::kernel::issue(result);
}

template <typename T>
softnpu::kernel::GatherMaskInstruction masked(const LocalTensor<T>& to, const LocalTensor<T>& from, bool counts,
                                              uint32_t mask, const GatherMaskParams& params, const Where& where) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "GatherMask: elements of 2 or 4 bytes");
  auto result = softnpu::kernel::make_instruction<softnpu::kernel::GatherMaskInstruction>(
      "GatherMask", softnpu::kernel::Pipe::kV, &softnpu::kernel::execute_gather_mask,
      &softnpu::kernel::touch_gather_mask, where);
  result.destination = to.memory();
  result.source = from.memory();
  result.elements = counts ? mask : 256 / sizeof(T);
  result.repeats = params.repeatTimes;
  result.source_stride = params.src0BlockStride;
  result.source_repeat = params.src0RepeatStride;
  result.pattern_repeat = params.src1RepeatStride;
  result.element_bytes = sizeof(T);
  return result;
}

template <typename T>
void progression(const char* name, const LocalTensor<T>& to, T first, T step, const softnpu::kernel::RepeatMask& mask,
                 uint32_t repeats, uint32_t stride, uint32_t repeat, const Where& where) {
  auto result = softnpu::kernel::make_instruction<softnpu::kernel::ProgressionInstruction>(
      name, softnpu::kernel::Pipe::kV, &softnpu::kernel::execute_progression, &softnpu::kernel::touch_progression,
      where);
  result.destination = to.memory();
  result.first = static_cast<double>(first);
  result.step = static_cast<double>(step);
  result.mask = mask;
  result.repeats = repeats;
  result.destination_stride = stride;
  result.destination_repeat = repeat;
  result.type = softnpu::kernel::data_type_of<T>();
  softnpu::kernel::issue(result);
}

}  // namespace gathering

// to[i] = the element at from + base + offsets[i]; offsets and base in bytes.
template <typename T>
void Gather(const LocalTensor<T>& to, const LocalTensor<T>& from, const LocalTensor<uint32_t>& offsets, uint32_t base,
            uint32_t count, const gathering::Where& where = gathering::Where::current()) {
  gathering::gather(to, from, offsets, base, inner::all_of(count), 0, 8, where);
}
// The same of the masked elements; each repeat takes the offsets of its own elements.
template <typename T, typename Mask>
void Gather(const LocalTensor<T>& to, const LocalTensor<T>& from, const LocalTensor<uint32_t>& offsets, uint32_t base,
            const Mask& mask, uint32_t repeats, uint16_t to_repeat,
            const gathering::Where& where = gathering::Where::current()) {
  gathering::gather(to, from, offsets, base, inner::mask_for<true, T>(mask, where), inner::repeats_of_call(repeats),
                    to_repeat, where);
}

// The elements that a fixed pattern (1 to 7) chooses, one behind the other; `gathered`: how many. With `counts`, each
// repeat has `mask` elements; without, it has 256 bytes.
template <typename T>
void GatherMask(const LocalTensor<T>& to, const LocalTensor<T>& from, uint8_t pattern, bool counts, uint32_t mask,
                const GatherMaskParams& params, uint64_t& gathered,
                const gathering::Where& where = gathering::Where::current()) {
  auto result = gathering::masked(to, from, counts, mask, params, where);
  if (pattern < 1 || pattern > 7) softnpu::kernel::fail("GatherMask: the pattern must be 1 to 7", where);
  result.fixed = pattern;
  gathered = softnpu::kernel::gathered_by(result);
  softnpu::kernel::issue(result);
}
// `pattern`: bit i of a repeat chooses its element i. The scalar unit waits for the number.
template <typename T, typename U>
void GatherMask(const LocalTensor<T>& to, const LocalTensor<T>& from, const LocalTensor<U>& pattern, bool counts,
                uint32_t mask, const GatherMaskParams& params, uint64_t& gathered,
                const gathering::Where& where = gathering::Where::current()) {
  static_assert(sizeof(U) == sizeof(T) && std::is_unsigned_v<U>,
                "GatherMask: the pattern is of unsigned elements as wide as the source's");
  auto result = gathering::masked(to, from, counts, mask, params, where);
  result.touch_reads = true;
  result.pattern = pattern.memory();
  result.gathered = &gathered;
  softnpu::kernel::issue(result);
  softnpu::kernel::barrier(softnpu::kernel::kAllPipes, where);
}

// 8 elements of each repeat, one behind the other: each fills a block.
template <typename T>
void Brcb(const LocalTensor<T>& to, const LocalTensor<T>& from, uint32_t repeats, const BrcbRepeatParams& params,
          const gathering::Where& where = gathering::Where::current()) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Brcb: elements of 2 or 4 bytes");
  auto result = softnpu::kernel::make_instruction<softnpu::kernel::SpreadInstruction>(
      "Brcb", softnpu::kernel::Pipe::kV, &softnpu::kernel::execute_spread, &softnpu::kernel::touch_spread, where);
  result.kind = softnpu::kernel::SpreadInstruction::Kind::kBlocks;
  result.destination = to.memory();
  result.source = from.memory();
  result.repeats = inner::repeats_of_call(repeats);
  result.destination_stride = params.dstBlkStride;
  result.destination_repeat = params.dstRepStride;
  result.element_bytes = sizeof(T);
  softnpu::kernel::issue(result);
}

// Repeats dimension `axis`, which is 1 in `from_shape`, as often as `to_shape` says. Other dimensions are the same.
template <typename T, int32_t dimensions, int32_t axis, bool reuses_source = false>
void BroadCast(const LocalTensor<T>& to, const LocalTensor<T>& from, const uint32_t* to_shape,
               const uint32_t* from_shape, const gathering::Where& where = gathering::Where::current()) {
  static_assert(axis >= 0 && axis < dimensions && dimensions <= 2, "BroadCast: 1 or 2 dimensions, one of them `axis`");
  auto result = softnpu::kernel::make_instruction<softnpu::kernel::SpreadInstruction>(
      "BroadCast", softnpu::kernel::Pipe::kV, &softnpu::kernel::execute_spread, &softnpu::kernel::touch_spread, where);
  result.kind = softnpu::kernel::SpreadInstruction::Kind::kShape;
  result.outer = 1;
  result.inner = 1;
  result.copies = to_shape[axis];
  for (int32_t i = 0; i < dimensions; ++i) {
    if (from_shape[i] != (i == axis ? 1 : to_shape[i]))
      softnpu::kernel::fail("BroadCast: the source's shape must be the destination's, and 1 at the axis", where);
    if (i < axis) result.outer *= to_shape[i];
    if (i > axis) result.inner *= to_shape[i];
  }
  result.destination = to.memory();
  result.source = from.memory();
  result.element_bytes = sizeof(T);
  softnpu::kernel::issue(result);
}
// `work` is not used.
template <typename T, int32_t dimensions, int32_t axis, bool reuses_source = false>
void BroadCast(const LocalTensor<T>& to, const LocalTensor<T>& from, const uint32_t* to_shape,
               const uint32_t* from_shape, const LocalTensor<uint8_t>& work,
               const gathering::Where& where = gathering::Where::current()) {
  (void)work;
  BroadCast<T, dimensions, axis, reuses_source>(to, from, to_shape, from_shape, where);
}

// to[i] = first + i
template <typename T>
void CreateVecIndex(const LocalTensor<T>& to, std::type_identity_t<T> first, uint32_t count,
                    const gathering::Where& where = gathering::Where::current()) {
  gathering::progression("CreateVecIndex", to, first, T(1), inner::all_of(count), 0, 1, 8, where);
}
// Of the masked elements; the numbers go on from repeat to repeat.
template <typename T, typename Mask>
void CreateVecIndex(const LocalTensor<T>& to, std::type_identity_t<T> first, const Mask& mask, uint32_t repeats,
                    uint16_t stride, uint8_t repeat, const gathering::Where& where = gathering::Where::current()) {
  gathering::progression("CreateVecIndex", to, first, T(1), inner::mask_for<true, T>(mask, where),
                         inner::repeats_of_call(repeats), stride, repeat, where);
}
// to[i] = first + i * step
template <typename T>
void ArithProgression(const LocalTensor<T>& to, std::type_identity_t<T> first, std::type_identity_t<T> step,
                      int32_t count, const gathering::Where& where = gathering::Where::current()) {
  gathering::progression("ArithProgression", to, first, step, inner::all_of(static_cast<uint64_t>(count)), 0, 1, 8,
                         where);
}

}  // namespace AscendC
