#pragma once
// What a kernel asks its core to do, as plain data: the headers for kernel authors fill instructions in, and
// libsoftnpu_kernel executes them, at once or, in checked mode, when the events between the pipes allow it.

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>

#include "ascendc/types.h"
#include "softnpu_kernel/export.h"

namespace softnpu::kernel {

// The queues of a core, each of which executes its instructions in order.
enum class Pipe : uint8_t { kS, kV, kM, kMte1, kMte2, kMte3, kFix };
inline constexpr int kPipes = 7;

enum class DataType : uint8_t {
  kHalf,
  kBfloat16,
  kFloat,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kBits
};

template <typename T>
constexpr DataType data_type_of() {
  if constexpr (std::is_same_v<T, half>)
    return DataType::kHalf;
  else if constexpr (std::is_same_v<T, bfloat16_t>)
    return DataType::kBfloat16;
  else if constexpr (std::is_same_v<T, float>)
    return DataType::kFloat;
  else if constexpr (std::is_same_v<T, bool>)
    return DataType::kUint8;
  else {
    static_assert(std::is_integral_v<T>, "Ascend C has no tensors of this element type");
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1)
      return is_signed ? DataType::kInt8 : DataType::kUint8;
    else if constexpr (sizeof(T) == 2)
      return is_signed ? DataType::kInt16 : DataType::kUint16;
    else if constexpr (sizeof(T) == 4)
      return is_signed ? DataType::kInt32 : DataType::kUint32;
    else
      return is_signed ? DataType::kInt64 : DataType::kUint64;
  }
}

// One operand in local or global memory.
struct Memory {
  void* address;
  uint64_t bytes;  // of its tensor from `address` on, or kUnknownBytes
};
// Of a tensor of global memory whose length the kernel has not said.
inline constexpr uint64_t kUnknownBytes = ~uint64_t{0};

constexpr uint32_t bytes_of(DataType type) {
  switch (type) {
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kBits: return 1;
    case DataType::kHalf:
    case DataType::kBfloat16:
    case DataType::kInt16:
    case DataType::kUint16: return 2;
    case DataType::kFloat:
    case DataType::kInt32:
    case DataType::kUint32: return 4;
    case DataType::kInt64:
    case DataType::kUint64: return 8;
  }
  return 0;
}

// Receives what an instruction touches.
class Touches {
 public:
  virtual ~Touches() = default;
  // Before the touches: an operand, as reports name it. Touches from its first byte on have to be within its tensor.
  virtual void operand(const char* /*name*/, const Memory& /*memory*/) {}
  virtual void read(const void* address, uint64_t bytes) = 0;
  virtual void write(void* address, uint64_t bytes) = 0;
  // Reads and writes at once, with regard to other blocks.
  virtual void combine(void* address, uint64_t bytes) {
    read(address, bytes);
    write(address, bytes);
  }
  // The instruction's parameters are none that the hardware takes: a sentence that says which and why.
  virtual void misuse(const char* sentence) = 0;
};

// The common head of every instruction; trivially copyable, so that it can wait in a pipe.
struct Instruction {
  const char* name;  // as the kernel writes it, a literal
  Pipe pipe;
  bool touch_reads;  // touch() reads operands, such as offsets: what its pipe got before has to be executed
  uint32_t bytes;    // sizeof the whole instruction
  void (*execute)(const Instruction& instruction);
  // Tells what execute() would read and write, without doing it.
  void (*touch)(const Instruction& instruction, Touches* touches);
  std::source_location where;  // the line of the kernel
};

// An instruction without operands.
template <typename I>
I make_instruction(const char* name, Pipe pipe, void (*execute)(const Instruction&),
                   void (*touch)(const Instruction&, Touches*), const std::source_location& where) {
  static_assert(std::is_base_of_v<Instruction, I> && std::is_trivially_copyable_v<I>);
  I result{};
  result.name = name;
  result.pipe = pipe;
  result.bytes = sizeof(result);
  result.execute = execute;
  result.touch = touch;
  result.where = where;
  return result;
}

}  // namespace softnpu::kernel
