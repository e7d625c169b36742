#pragma once
// Reductions. Sources: their use in DrivingSDK and sgl-kernel-npu kernels.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include "ascendc/mask.h"
#include "ascendc/tensor.h"
#include "softnpu_kernel/vector_reduce.h"

namespace AscendC {

// What WholeReduceMax and WholeReduceMin write for each repeat: the value and its index, which has the element's width,
// or the value alone.
enum class ReduceOrder : uint8_t { kValueIndex = 0, ORDER_ONLY_VALUE };

// Rows of `inner` elements, of each of which the first `n` are added.
struct SumParams {
  uint32_t outter = 1;
  uint32_t inner = 0;
  uint32_t n = 0;
};

namespace reducing {

using softnpu::kernel::ReduceInstruction;
using softnpu::kernel::RepeatMask;
using Operation = ReduceInstruction::Operation;
using Span = ReduceInstruction::Span;
using Result = ReduceInstruction::Result;

template <typename T>
ReduceInstruction instruction(const char* name, Operation operation, Span span, const LocalTensor<T>& to,
                              const LocalTensor<T>& from, const RepeatMask& mask, const std::source_location& where) {
  static_assert(
      std::is_same_v<T, float> || std::is_same_v<T, half> || std::is_same_v<T, int32_t> || std::is_same_v<T, int16_t>,
      "reductions are of half, float, int16_t or int32_t");
  auto created = softnpu::kernel::make_instruction<ReduceInstruction>(
      name, softnpu::kernel::Pipe::kV, &softnpu::kernel::execute_reduce, &softnpu::kernel::touch_reduce, where);
  created.destination = to.memory();
  created.source = from.memory();
  created.mask = mask;
  created.operation = operation;
  created.span = span;
  created.type = softnpu::kernel::data_type_of<T>();
  created.source_stride = 1;
  created.source_repeat = 8;
  created.destination_repeat = 1;
  return created;
}

// One value of all repeats.
template <typename T>
void all(const char* name, Operation operation, const LocalTensor<T>& to, const LocalTensor<T>& from,
         const LocalTensor<T>& work, const RepeatMask& mask, int32_t repeats, int32_t source_repeat, bool with_index,
         const std::source_location& where) {
  ReduceInstruction created = instruction(name, operation, Span::kAll, to, from, mask, where);
  created.work = work.memory();
  created.repeats = static_cast<uint32_t>(repeats);
  created.source_repeat = static_cast<uint32_t>(source_repeat);
  created.result = with_index ? Result::kValueIndex : Result::kValue;
  softnpu::kernel::issue(created);
}

// Values of each repeat.
template <typename T>
void each(const char* name, Operation operation, Span span, const LocalTensor<T>& to, const LocalTensor<T>& from,
          const RepeatMask& mask, int32_t repeats, int32_t destination_repeat, int32_t source_stride,
          int32_t source_repeat, Result result, const std::source_location& where) {
  ReduceInstruction created = instruction(name, operation, span, to, from, mask, where);
  created.repeats = static_cast<uint32_t>(repeats);
  created.most_repeats = 255;
  created.destination_repeat = static_cast<uint32_t>(destination_repeat);
  created.source_stride = static_cast<uint32_t>(source_stride);
  created.source_repeat = static_cast<uint32_t>(source_repeat);
  created.result = result;
  softnpu::kernel::issue(created);
}

constexpr Result result_of(ReduceOrder order) {
  return order == ReduceOrder::ORDER_ONLY_VALUE ? Result::kValue : Result::kValueIndex;
}

using Where = std::source_location;

}  // namespace reducing

// The sum, largest or smallest of `count` elements to to[0]; with `with_index`, its index's bits to to[1].
template <typename T>
void ReduceSum(const LocalTensor<T>& to, const LocalTensor<T>& from, const LocalTensor<T>& work, int32_t count,
               const reducing::Where& where = reducing::Where::current()) {
  reducing::all("ReduceSum", reducing::Operation::kSum, to, from, work, inner::all_of(static_cast<uint64_t>(count)), 0,
                8, false, where);
}

// The same of the masked elements of `repeats` repeats. `mask`: a number of elements, or two words of bits.
template <typename T, typename Mask>
void ReduceSum(const LocalTensor<T>& to, const LocalTensor<T>& from, const LocalTensor<T>& work, const Mask& mask,
               int32_t repeats, int32_t source_repeat, const reducing::Where& where = reducing::Where::current()) {
  reducing::all("ReduceSum", reducing::Operation::kSum, to, from, work, inner::mask_for<true, T>(mask, where), repeats,
                source_repeat, false, where);
}

// The two overloads of one name; a template cannot make names.
#define SOFTNPU_KERNEL_BEST(Name, operation)                                                                          \
  template <typename T>                                                                                               \
  void Name(const LocalTensor<T>& to, const LocalTensor<T>& from, const LocalTensor<T>& work, int32_t count,          \
            bool with_index = false, const reducing::Where& where = reducing::Where::current()) {                     \
    reducing::all(#Name, reducing::Operation::operation, to, from, work, inner::all_of(static_cast<uint64_t>(count)), \
                  0, 8, with_index, where);                                                                           \
  }                                                                                                                   \
  template <typename T, typename Mask>                                                                                \
  void Name(const LocalTensor<T>& to, const LocalTensor<T>& from, const LocalTensor<T>& work, const Mask& mask,       \
            int32_t repeats, int32_t source_repeat, bool with_index = false,                                          \
            const reducing::Where& where = reducing::Where::current()) {                                              \
    reducing::all(#Name, reducing::Operation::operation, to, from, work, inner::mask_for<true, T>(mask, where),       \
                  repeats, source_repeat, with_index, where);                                                         \
  }

SOFTNPU_KERNEL_BEST(ReduceMax, kMax)
SOFTNPU_KERNEL_BEST(ReduceMin, kMin)

#undef SOFTNPU_KERNEL_BEST

// One value of each repeat. `destination_repeat` counts results (an index and a value: one).
template <typename T, bool sets_mask = true, typename Mask = int32_t>
void WholeReduceSum(const LocalTensor<T>& to, const LocalTensor<T>& from, const Mask& mask, int32_t repeats,
                    int32_t destination_repeat, int32_t source_stride, int32_t source_repeat,
                    const reducing::Where& where = reducing::Where::current()) {
  reducing::each("WholeReduceSum", reducing::Operation::kSum, reducing::Span::kRepeat, to, from,
                 inner::mask_for<sets_mask, T>(mask, where), repeats, destination_repeat, source_stride, source_repeat,
                 reducing::Result::kValue, where);
}

#define SOFTNPU_KERNEL_WHOLE(Name, operation)                                                                          \
  template <typename T, bool sets_mask = true, typename Mask = int32_t>                                                \
  void Name(const LocalTensor<T>& to, const LocalTensor<T>& from, const Mask& mask, int32_t repeats,                   \
            int32_t destination_repeat, int32_t source_stride, int32_t source_repeat,                                  \
            ReduceOrder order = ReduceOrder::kValueIndex, const reducing::Where& where = reducing::Where::current()) { \
    reducing::each(#Name, reducing::Operation::operation, reducing::Span::kRepeat, to, from,                           \
                   inner::mask_for<sets_mask, T>(mask, where), repeats, destination_repeat, source_stride,             \
                   source_repeat, reducing::result_of(order), where);                                                  \
  }

SOFTNPU_KERNEL_WHOLE(WholeReduceMax, kMax)
SOFTNPU_KERNEL_WHOLE(WholeReduceMin, kMin)

#undef SOFTNPU_KERNEL_WHOLE

// As WholeReduceSum with dense results. The strides before the last are 0, 1 and 1: others are not there.
template <typename T>
void RepeatReduceSum(const LocalTensor<T>& to, const LocalTensor<T>& from, int32_t repeats, int32_t mask,
                     int32_t of_value, int32_t one, int32_t another, int32_t source_repeat,
                     const reducing::Where& where = reducing::Where::current()) {
  if (of_value != 0 || one != 1 || another != 1)
    softnpu::kernel::fail("RepeatReduceSum: the strides before the last must be 0, 1 and 1", where);
  reducing::each("RepeatReduceSum", reducing::Operation::kSum, reducing::Span::kRepeat, to, from,
                 inner::mask_for<true, T>(mask, where), repeats, 1, 1, source_repeat, reducing::Result::kValue, where);
}

// One value of each block, 8 of a repeat, or of each pair of neighbours, half a repeat: what `destination_repeat`
// counts.
#define SOFTNPU_KERNEL_GROUPS(Name, operation, span)                                                                 \
  template <typename T, typename Mask>                                                                               \
  void Name(const LocalTensor<T>& to, const LocalTensor<T>& from, int32_t repeats, const Mask& mask,                 \
            int32_t destination_repeat, int32_t source_stride, int32_t source_repeat,                                \
            const reducing::Where& where = reducing::Where::current()) {                                             \
    reducing::each(#Name, reducing::Operation::operation, reducing::Span::span, to, from,                            \
                   inner::mask_for<true, T>(mask, where), repeats, destination_repeat, source_stride, source_repeat, \
                   reducing::Result::kValue, where);                                                                 \
  }

SOFTNPU_KERNEL_GROUPS(BlockReduceSum, kSum, kBlock)
SOFTNPU_KERNEL_GROUPS(BlockReduceMax, kMax, kBlock)
SOFTNPU_KERNEL_GROUPS(BlockReduceMin, kMin, kBlock)
SOFTNPU_KERNEL_GROUPS(PairReduceSum, kSum, kPair)

#undef SOFTNPU_KERNEL_GROUPS

// The sum of each row to one element.
template <typename T>
void Sum(const LocalTensor<T>& to, const LocalTensor<T>& from, const SumParams& params,
         const reducing::Where& where = reducing::Where::current()) {
  auto created = reducing::instruction("Sum", reducing::Operation::kSum, reducing::Span::kRow, to, from, {}, where);
  created.repeats = params.outter;
  created.row_elements = params.n;
  created.row_step = uint64_t{params.inner} * sizeof(T);
  softnpu::kernel::issue(created);
}
// `work` is not used.
template <typename T>
void Sum(const LocalTensor<T>& to, const LocalTensor<T>& from, const LocalTensor<uint8_t>& work,
         const SumParams& params, const reducing::Where& where = reducing::Where::current()) {
  (void)work;
  Sum(to, from, params, where);
}

}  // namespace AscendC
