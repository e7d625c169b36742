// Counts, masks, repeats and strides of vector instructions.

#include <cstring>
#include <string>

#include "ascendc/instructions/vector/elementwise.h"
#include "ascendc/instructions/vector/functions.h"

namespace softnpu::kernel {
namespace {

// Calls copy(in `lanes`, in memory, bytes) for each run of the repeat's elements; `lanes` has them side by side.
template <typename Copy>
void for_lanes(const VectorInstruction& v, const VectorOperand& operand, uint64_t repeat, unsigned char* lanes,
               const Copy& copy) {
  const uint32_t bytes = bytes_of(operand.type);
  for_masked_runs(v.mask, repeat, layout_of(v, operand), [&](uint32_t first, uint32_t count, uint64_t offset) {
    copy(lanes + size_t{first} * bytes, static_cast<char*>(operand.address) + offset, size_t{count} * bytes);
  });
}

// The blocks with the first `count` elements of an operand's repeat, side by side: in memory, or copied to `lanes`.
unsigned char* first_blocks(const VectorInstruction& v, const VectorOperand& operand, uint64_t repeat, uint32_t count,
                            unsigned char* lanes) {
  auto* first = reinterpret_cast<unsigned char*>(element_of(v, operand, repeat, 0));
  if (operand.block_stride == 1) return first;
  const uint32_t blocks = (count * bytes_of(operand.type) + kBlockBytes - 1) / kBlockBytes;
  for (uint32_t i = 0; i < blocks; ++i)
    std::memcpy(lanes + i * kBlockBytes, first + size_t{i} * operand.block_stride * kBlockBytes, kBlockBytes);
  return lanes;
}

// The first `count` elements of a repeat whose results are side by side in memory.
void run_blocks(const VectorInstruction& v, VectorFunction function, uint64_t repeat, uint32_t count) {
  alignas(64) unsigned char lanes[2][kRepeatBytes];
  const void* sources[2] = {};
  for (int i = 0; i < v.sources; ++i) sources[i] = first_blocks(v, v.source[i], repeat, count, lanes[i]);
  function(element_of(v, v.destination, repeat, 0), sources[0], sources[1], count, v);
}

// One repeat of any mask and strides: by way of contiguous copies. Memory outside of the mask is neither read nor
// written.
void run_repeat(const VectorInstruction& v, VectorFunction function, uint64_t repeat) {
  alignas(64) unsigned char lanes[3][kRepeatBytes] = {};
  const auto load = [](unsigned char* in, const char* memory, size_t bytes) { std::memcpy(in, memory, bytes); };
  for (int i = 0; i < v.sources; ++i) for_lanes(v, v.source[i], repeat, lanes[i], load);
  for_lanes(v, v.destination, repeat, lanes[2], load);
  function(lanes[2], lanes[0], lanes[1], lanes_of(v), v);
  for_lanes(v, v.destination, repeat, lanes[2],
            [](const unsigned char* in, char* memory, size_t bytes) { std::memcpy(memory, in, bytes); });
}

// The first `count` elements of a repeat, which follow each other in memory.
void run_first(const VectorInstruction& v, VectorFunction function, uint64_t repeat, uint64_t count) {
  const void* first = v.sources > 0 ? element_of(v, v.source[0], repeat, 0) : nullptr;
  const void* second = v.sources > 1 ? element_of(v, v.source[1], repeat, 0) : nullptr;
  function(element_of(v, v.destination, repeat, 0), first, second, count, v);
}

}  // namespace

void execute_vector(const Instruction& instruction) {
  const auto& v = static_cast<const VectorInstruction&>(instruction);
  const DataType source = v.sources > 0 ? v.source[0].type : v.destination.type;
  const VectorFunction function = vector_function(v.op, v.destination.type, source);
  if (function == nullptr) {
    fail((std::string(v.name) + " has no form for these element types").c_str(), v.where);
  }
  if (const uint64_t count = contiguous_elements(v); count > 0) return run_first(v, function, 0, count);
  const uint32_t lanes = lanes_of(v);
  const uint64_t repeats = repeats_of(v.mask, v.repeats, lanes);
  const bool is_dense = has_whole_repeats(v);
  for (uint64_t r = 0; r < repeats; ++r) {
    const uint32_t prefix = prefix_of(v.mask, r, lanes);
    if (is_dense && prefix > 0) {
      run_first(v, function, r, prefix);
    } else if (prefix > 0 && v.destination.block_stride == 1) {
      run_blocks(v, function, r, prefix);
    } else {
      run_repeat(v, function, r);
    }
  }
}

}  // namespace softnpu::kernel
