// Comparisons and choices, element by element.

#include "softnpu_kernel/vector_select.h"

#include <cstring>
#include <string>

#include "ascendc/instructions/vector/elementwise.h"
#include "ascendc/instructions/vector/overlap.h"
#include "ascendc/instructions/vector/select_vectors.h"

namespace softnpu::kernel {
namespace {

constexpr const char* kSources[] = {"src0", "src1"};

template <typename T>
T read(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Calls `element(number, repeat, lane)` for each element that the instruction computes, from number `first` on; the
// number counts those of all repeats, also ones that the mask leaves out.
template <typename Element>
void for_each(const VectorInstruction& v, uint64_t first, const Element& element) {
  const uint32_t lanes = lanes_of(v);
  const uint64_t repeats = repeats_of(v.mask, v.repeats, lanes);
  for (uint64_t r = first / lanes; r < repeats; ++r) {
    for (uint32_t lane = r == first / lanes ? first % lanes : 0; lane < lanes; ++lane) {
      if (is_masked(v.mask, r, lane, lanes)) element(r * lanes + lane, r, lane);
    }
  }
}

// The second source's element, or the scalar in its place.
template <typename T>
T second_of(const VectorInstruction& v, uint64_t repeat, uint32_t lane) {
  return read<T>(v.sources == 1 ? reinterpret_cast<const char*>(v.scalar) : element_of(v, v.source[1], repeat, lane));
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
  VectorInstruction sources = c;
  sources.destination = c.source[0];  // bits have no repeats
  for_each(c, compare_vectors(c, contiguous_elements(sources)), [&](uint64_t number, uint64_t repeat, uint32_t lane) {
    const T a = read<T>(element_of(c, c.source[0], repeat, lane));
    const T b = second_of<T>(c, repeat, lane);
    const auto bit = static_cast<unsigned char>(1U << (number % 8));
    bits[number / 8] =
        static_cast<unsigned char>(holds(c.comparison, a, b) ? bits[number / 8] | bit : bits[number / 8] & ~bit);
  });
}

template <typename T>
void select(const SelectInstruction& s) {
  const auto* bits = static_cast<const unsigned char*>(s.bits.address);
  for_each(s, select_vectors(s, contiguous_elements(s)), [&](uint64_t number, uint64_t repeat, uint32_t lane) {
    const uint64_t bit = s.repeats_bits ? lane : number;
    const bool is_first = (bits[bit / 8] >> (bit % 8) & 1) != 0;
    const T chosen = is_first ? read<T>(element_of(s, s.source[0], repeat, lane)) : second_of<T>(s, repeat, lane);
    std::memcpy(element_of(s, s.destination, repeat, lane), &chosen, sizeof(T));
  });
}

// False where nothing else of the instruction is to be told.
[[nodiscard]] bool touch_sources(const VectorInstruction& v, Touches* touches) {
  if (!touch_mask(v, touches)) return false;
  touch_operand("dst", v.destination, touches);
  for (int i = 0; i < v.sources; ++i) {
    touch_operand(kSources[i], v.source[i], touches);
    touch_elements(v, v.source[i], false, touches);
  }
  return true;
}

// The bytes of the bits that the instruction's elements span.
uint64_t bytes_of_bits(const VectorInstruction& v) {
  const uint64_t bits = v.mask.elements > 0 ? v.mask.elements : uint64_t{v.repeats} * lanes_of(v);
  return (bits + 7) / 8;
}

// The bits of each repeat; with `repeats_bits` the same ones.
Footprint footprint_of_bits(const VectorInstruction& v, const VectorOperand& bits, bool repeats_bits) {
  const uint64_t bytes = lanes_of(v) / 8;
  Footprint result{reinterpret_cast<uint64_t>(bits.address), repeats_bits ? 0 : bytes, {}};
  const uint64_t repeats = repeats_of(v.mask, v.repeats, lanes_of(v));
  for (uint64_t r = 0; r < repeats; ++r) {
    const uint64_t begin = r * result.step;
    const uint64_t end = std::min(begin + bytes, bits.tensor_bytes);
    if (begin < end) result.runs.push_back({r, result.first + begin, result.first + end});
  }
  return result;
}

Footprint footprint_of_elements(const VectorInstruction& v, const VectorOperand& operand) {
  return footprint_of(v.mask, v.repeats, layout_of(v, operand), {operand.address, operand.tensor_bytes});
}

void touch_overlap(const Footprint& destination, const Footprint& source, const char* name, Touches* touches) {
  const std::string wrong = misuse_of_overlap(destination, source, name);
  if (!wrong.empty()) touches->misuse(wrong.c_str());
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
  if (c.fills_repeats && c.mask.elements % lanes_of(c) != 0) {
    touches->misuse("the elements are not whole repeats of 256 bytes");
  }
  if (!touch_sources(c, touches)) return;
  touches->write(c.destination.address, bytes_of_bits(c));
  const Footprint written = footprint_of_bits(c, c.destination, false);
  for (int i = 0; i < c.sources; ++i)
    touch_overlap(written, footprint_of_elements(c, c.source[i]), kSources[i], touches);
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
  if (!touch_sources(s, touches)) return;
  touch_operand("selMask", s.bits, touches);
  touches->read(s.bits.address, s.repeats_bits ? lanes_of(s) / 8 : bytes_of_bits(s));
  touch_elements(s, s.destination, true, touches);
  for (int i = 0; i < s.sources; ++i) touch_overlap(s, s.destination, kSources[i], s.source[i], touches);
  const Footprint written = footprint_of_elements(s, s.destination);
  touch_overlap(written, footprint_of_bits(s, s.bits, s.repeats_bits), "selMask", touches);
}

}  // namespace softnpu::kernel
