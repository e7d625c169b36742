#pragma once
// For the headers: from a call's tensors, mask and strides to instructions.

#include <algorithm>
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
  VectorInstruction v{};
  v.name = name;
  v.pipe = softnpu::kernel::Pipe::kV;
  v.bytes = sizeof(v);
  v.execute = &softnpu::kernel::execute_vector;
  v.touch = &softnpu::kernel::touch_vector;
  v.where = where;
  v.op = op;
  return v;
}

// `value` converted to T, as the instruction's scalar.
template <typename T, typename U>
void set_scalar(VectorInstruction* v, const U& value) {
  const T typed = static_cast<T>(value);
  std::memcpy(v->scalar, &typed, sizeof(T));
}

inline void issue_count(VectorInstruction v, int64_t count) {
  if (count <= 0) return;
  v.is_counted = true;
  v.count = static_cast<uint64_t>(count);
  issue(v);
}

inline uint32_t lanes(const VectorInstruction& v) {
  uint32_t widest = bytes_of(v.destination.type);
  for (int i = 0; i < v.sources; ++i) widest = std::max(widest, bytes_of(v.source[i].type));
  return 256 / widest;
}

// In counter mode the mask is the number of elements, and the repeats follow from it.
inline void issue_elements(VectorInstruction v, uint64_t elements) {
  const uint32_t per_repeat = lanes(v);
  const auto whole = static_cast<uint32_t>(elements / per_repeat);
  const auto rest = static_cast<uint32_t>(elements % per_repeat);
  const auto use = [&v](uint64_t active) {
    const MaskWords mask = first_elements(active);
    std::copy_n(mask.words, 2, v.mask);
  };
  v.repeats = whole;
  use(per_repeat);
  if (whole > 0) issue(v);
  if (rest == 0) return;
  const auto skip = [whole](VectorOperand* o) {
    const uint64_t bytes = uint64_t{whole} * o->repeat_stride * 32;
    o->address = static_cast<char*>(o->address) + bytes;
    o->tensor_bytes -= std::min(bytes, o->tensor_bytes);
  };
  skip(&v.destination);
  for (int i = 0; i < v.sources; ++i) skip(&v.source[i]);
  v.repeats = 1;
  use(rest);
  issue(v);
}

// With the core's mask as it is.
inline void issue_with_mask_of_core(VectorInstruction v, uint32_t repeats) {
  const softnpu::kernel::Block* block = softnpu::kernel::current_block();
  if (block->mask_counter_mode) {
    issue_elements(v, block->vector_mask[0]);
    return;
  }
  if (repeats == 0) return;
  const uint32_t per_repeat = lanes(v);
  const MaskWords all = first_elements(per_repeat);
  for (int i = 0; i < 2; ++i) v.mask[i] = block->vector_mask[i] & all.words[i];
  v.repeats = repeats;
  issue(v);
}

// `mask` elements of each repeat; sets the core's mask.
template <bool sets_mask>
void issue_masked(const VectorInstruction& v, uint64_t mask, uint32_t repeats) {
  if constexpr (sets_mask) {
    softnpu::kernel::Block* block = softnpu::kernel::current_block();
    const MaskWords words = block->mask_counter_mode ? MaskWords{{mask, 0}} : first_elements(mask);
    std::copy_n(words.words, 2, block->vector_mask);
    if (!block->mask_counter_mode && mask > lanes(v)) {
      softnpu::kernel::fail("the mask is more than the elements of a repeat", v.where);
    }
  }
  issue_with_mask_of_core(v, repeats);
}

// The elements whose bits are set: bits 0 to 63 in mask[0].
template <bool sets_mask>
void issue_masked(const VectorInstruction& v, const uint64_t* mask, uint32_t repeats) {
  if constexpr (sets_mask) {
    uint64_t* core = softnpu::kernel::current_block()->vector_mask;
    core[0] = mask[0];
    core[1] = lanes(v) > 64 ? mask[1] : 0;
  }
  issue_with_mask_of_core(v, repeats);
}

}  // namespace AscendC::inner
