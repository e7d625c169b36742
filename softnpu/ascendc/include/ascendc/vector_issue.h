#pragma once
// For the headers: from a call's tensors, mask and strides to instructions.

#include <cstring>

#include "ascendc/mask.h"
#include "ascendc/tensor.h"
#include "ascendc/vector_params.h"

namespace AscendC::inner {

using softnpu::kernel::bytes_of;
using softnpu::kernel::VectorInstruction;
using softnpu::kernel::VectorOp;
using softnpu::kernel::VectorOperand;

template <typename T>
VectorOperand operand(const LocalTensor<T>& tensor, uint32_t block_stride = 1, uint32_t repeat_stride = 8) {
  const softnpu::kernel::Memory memory = tensor.memory();
  return {memory.address, memory.bytes, block_stride, repeat_stride, softnpu::kernel::data_type_of<T>()};
}

inline VectorInstruction vector(const char* name, VectorOp op, const std::source_location& where) {
  auto v = softnpu::kernel::make_instruction<VectorInstruction>(
      name, softnpu::kernel::Pipe::kV, &softnpu::kernel::execute_vector, &softnpu::kernel::touch_vector, where);
  v.op = op;
  return v;
}

// `value` converted to T, as the instruction's scalar.
template <typename T, typename U>
void set_scalar(VectorInstruction* v, const U& value) {
  const T typed = static_cast<T>(value);
  std::memcpy(v->scalar, &typed, sizeof(T));
}

// I is VectorInstruction or what is derived from it. `count` contiguous elements of every operand.
template <typename I>
void issue_count(I v, int64_t count) {
  if (count <= 0) return;
  const uint32_t lanes = lanes_of(v);
  const auto make_dense = [lanes](VectorOperand* o) {
    o->block_stride = 1;
    o->repeat_stride = lanes * bytes_of(o->type) / softnpu::kernel::kBlockBytes;
  };
  make_dense(&v.destination);
  for (int i = 0; i < v.sources; ++i) make_dense(&v.source[i]);
  v.mask = all_of(static_cast<uint64_t>(count));
  issue(v);
}

// The elements of `mask`, a number or a pointer to bits; with `sets_mask` false, of the core's.
template <bool sets_mask, typename I, typename Mask>
void issue_masked(I v, const Mask& mask, uint32_t repeats) {
  v.mask = mask_of<sets_mask>(mask, lanes_of(v), v.where);
  v.repeats = repeats_of_call(repeats);
  if (softnpu::kernel::current_block()->mask_counter_mode ? v.mask.elements > 0 : v.repeats > 0) issue(v);
}

}  // namespace AscendC::inner
