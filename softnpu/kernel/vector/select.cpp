// Comparisons and choices, element by element.

#include "softnpu_kernel/vector_select.h"

#include <cstring>
#include <string>

#include "kernel/vector/lanes.h"

namespace softnpu::kernel {
namespace {

template <typename T>
T read(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Calls `element(number, repeat, lane)` for each element that the instruction computes; the number counts those of all
// repeats, also ones that the mask leaves out.
template <typename Element>
void for_each(const VectorInstruction& v, const Element& element) {
  const uint32_t lanes = kVectorBytes / bytes_of(v.source[0].type);
  if (v.is_counted) {
    for (uint64_t i = 0; i < v.count; ++i)
      element(i, static_cast<uint32_t>(i / lanes), static_cast<uint32_t>(i % lanes));
    return;
  }
  for (uint32_t repeat = 0; repeat < v.repeats; ++repeat) {
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      if (is_active(v, lane)) element(uint64_t{repeat} * lanes + lane, repeat, lane);
    }
  }
}

// The operands of counted instructions are contiguous.
template <typename T>
const char* at(const VectorInstruction& v, const VectorOperand& operand, uint64_t number, uint32_t repeat,
               uint32_t lane) {
  return v.is_counted ? static_cast<const char*>(operand.address) + number * sizeof(T)
                      : element_of(operand, repeat, lane);
}

template <typename T>
bool holds(Comparison comparison, T a, T b) {
  switch (comparison) {
    case Comparison::kLt: return a < b;
    case Comparison::kGt: return a > b;
    case Comparison::kEq: return a == b;
    case Comparison::kLe: return a <= b;
    case Comparison::kGe: return a >= b;
    case Comparison::kNe: return a != b;
  }
  return false;
}

template <typename T>
void compare(const CompareInstruction& c) {
  auto* bits = static_cast<unsigned char*>(c.destination.address);
  const T scalar = read<T>(reinterpret_cast<const char*>(c.scalar));
  for_each(c, [&](uint64_t number, uint32_t repeat, uint32_t lane) {
    const T a = read<T>(at<T>(c, c.source[0], number, repeat, lane));
    const T b = c.has_scalar ? scalar : read<T>(at<T>(c, c.source[1], number, repeat, lane));
    const auto bit = static_cast<unsigned char>(1U << (number % 8));
    bits[number / 8] =
        static_cast<unsigned char>(holds(c.comparison, a, b) ? bits[number / 8] | bit : bits[number / 8] & ~bit);
  });
}

template <typename T>
void select(const SelectInstruction& s) {
  const auto* bits = static_cast<const unsigned char*>(s.bits.address);
  const T scalar = read<T>(reinterpret_cast<const char*>(s.scalar));
  for_each(s, [&](uint64_t number, uint32_t repeat, uint32_t lane) {
    const uint64_t bit = s.repeats_bits ? lane : number;
    const bool is_first = (bits[bit / 8] >> (bit % 8) & 1) != 0;
    const T chosen = is_first       ? read<T>(at<T>(s, s.source[0], number, repeat, lane))
                     : s.has_scalar ? scalar
                                    : read<T>(at<T>(s, s.source[1], number, repeat, lane));
    std::memcpy(const_cast<char*>(at<T>(s, s.destination, number, repeat, lane)), &chosen, sizeof(T));
  });
}

void visit_sources(const VectorInstruction& v, bool has_scalar, Touches* touches) {
  static constexpr const char* kNames[] = {"src0", "src1"};
  touches->operand("dst", {v.destination.address, v.destination.tensor_bytes});
  for (int i = 0; i < (has_scalar ? 1 : 2); ++i) {
    touches->operand(kNames[i], {v.source[i].address, v.source[i].tensor_bytes});
  }
  const uint32_t bytes = bytes_of(v.source[0].type);
  for (int i = 0; i < (has_scalar ? 1 : 2); ++i) {
    if (reinterpret_cast<uintptr_t>(v.source[i].address) % kVectorBlock != 0) {
      touches->misuse("a source does not begin at a multiple of 32 bytes");
    }
    if (v.is_counted) {
      touches->read(v.source[i].address, v.count * bytes);
    } else {
      for_each(v, [&](uint64_t, uint32_t repeat, uint32_t lane) {
        touches->read(element_of(v.source[i], repeat, lane), bytes);
      });
    }
  }
}

// How many bits the instruction's elements span.
uint64_t bit_count(const VectorInstruction& v) {
  return v.is_counted ? v.count : uint64_t{v.repeats} * (kVectorBytes / bytes_of(v.source[0].type));
}

}  // namespace

void execute_compare(const Instruction& instruction) {
  const auto& c = static_cast<const CompareInstruction&>(instruction);
  switch (c.source[0].type) {
    case DataType::kHalf: return compare<half>(c);
    case DataType::kFloat: return compare<float>(c);
    case DataType::kInt32: return compare<int32_t>(c);
    default:
      fail((std::string(c.name) + " has no form for this element type: half, float and int32 have").c_str(), c.where);
  }
}

void touch_compare(const Instruction& instruction, Touches* touches) {
  const auto& c = static_cast<const CompareInstruction&>(instruction);
  if (c.is_counted && c.count * bytes_of(c.source[0].type) % kVectorBytes != 0) {
    touches->misuse("the elements are not whole repeats of 256 bytes");
  }
  visit_sources(c, c.has_scalar, touches);
  touches->write(c.destination.address, (bit_count(c) + 7) / 8);
}

void execute_select(const Instruction& instruction) {
  const auto& s = static_cast<const SelectInstruction&>(instruction);
  switch (bytes_of(s.destination.type)) {
    case 2: return select<uint16_t>(s);
    case 4: return select<uint32_t>(s);
    default:
      fail((std::string(s.name) + " has no form for this element type: those of 2 and 4 bytes have").c_str(), s.where);
  }
}

void touch_select(const Instruction& instruction, Touches* touches) {
  const auto& s = static_cast<const SelectInstruction&>(instruction);
  visit_sources(s, s.has_scalar, touches);
  touches->operand("selMask", {s.bits.address, s.bits.tensor_bytes});
  const uint64_t bits = s.repeats_bits ? kVectorBytes / bytes_of(s.source[0].type) : bit_count(s);
  touches->read(s.bits.address, (bits + 7) / 8);
  const uint32_t bytes = bytes_of(s.destination.type);
  if (s.is_counted) {
    touches->write(s.destination.address, s.count * bytes);
  } else {
    for_each(s, [&](uint64_t, uint32_t repeat, uint32_t lane) {
      touches->write(element_of(s.destination, repeat, lane), bytes);
    });
  }
}

}  // namespace softnpu::kernel
