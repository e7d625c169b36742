// Counts, masks, repeats and strides of vector instructions.

#include <cstring>
#include <string>

#include "kernel/vector/functions.h"
#include "kernel/vector/lanes.h"

namespace softnpu::kernel {
namespace {

void gather(const VectorOperand& operand, uint32_t repeat, uint32_t lanes, unsigned char* out) {
  const uint32_t bytes = bytes_of(operand.type);
  const uint32_t block = std::min(kVectorBlock / bytes, lanes);
  for (uint32_t lane = 0; lane < lanes; lane += block) {
    std::memcpy(out + size_t{lane} * bytes, element_of(operand, repeat, lane), size_t{block} * bytes);
  }
}

// One repeat of any mask and strides: by way of contiguous copies, so that memory outside of the mask stays as it is.
void run_repeat(const VectorInstruction& v, VectorFunction function, uint32_t repeat, uint32_t lanes) {
  alignas(64) unsigned char destination[kVectorBytes];
  alignas(64) unsigned char sources[2][kVectorBytes] = {};
  gather(v.destination, repeat, lanes, destination);
  for (int i = 0; i < v.sources; ++i) gather(v.source[i], repeat, lanes, sources[i]);
  function(destination, sources[0], sources[1], lanes, v);
  const uint32_t bytes = bytes_of(v.destination.type);
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    if (is_active(v, lane)) {
      std::memcpy(element_of(v.destination, repeat, lane), destination + size_t{lane} * bytes, bytes);
    }
  }
}

bool is_dense(const VectorInstruction& v) {
  bool dense = v.destination.block_stride == 1;
  for (int i = 0; i < v.sources; ++i) dense = dense && v.source[i].block_stride == 1;
  return dense;
}

// Whether each repeat continues where the one before ended.
bool is_contiguous(const VectorInstruction& v, uint32_t lanes) {
  const auto follows = [lanes](const VectorOperand& o) {
    return o.repeat_stride * kVectorBlock == lanes * bytes_of(o.type);
  };
  bool contiguous = follows(v.destination);
  for (int i = 0; i < v.sources; ++i) contiguous = contiguous && follows(v.source[i]);
  return contiguous;
}

}  // namespace

void execute_vector(const Instruction& instruction) {
  const auto& v = static_cast<const VectorInstruction&>(instruction);
  const DataType source = v.sources > 0 ? v.source[0].type : v.destination.type;
  const VectorFunction function = vector_function(v.op, v.destination.type, source);
  if (function == nullptr) {
    fail((std::string(v.name) + " has no form for these element types").c_str(), v.where);
  }
  const void* first = v.sources > 0 ? v.source[0].address : nullptr;
  const void* second = v.sources > 1 ? v.source[1].address : nullptr;
  if (v.is_counted) {
    function(v.destination.address, first, second, v.count, v);
    return;
  }
  const uint32_t lanes = lanes_of(v);
  const uint32_t prefix = is_dense(v) ? prefix_of(v, lanes) : 0;
  if (prefix == lanes && is_contiguous(v, lanes)) {
    function(v.destination.address, first, second, size_t{lanes} * v.repeats, v);
    return;
  }
  for (uint32_t repeat = 0; repeat < v.repeats; ++repeat) {
    if (prefix == 0) {
      run_repeat(v, function, repeat, lanes);
    } else {
      function(element_of(v.destination, repeat, 0), v.sources > 0 ? element_of(v.source[0], repeat, 0) : nullptr,
               v.sources > 1 ? element_of(v.source[1], repeat, 0) : nullptr, prefix, v);
    }
  }
}

}  // namespace softnpu::kernel
