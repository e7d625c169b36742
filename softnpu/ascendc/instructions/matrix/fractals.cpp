// Copies into the matrix unit's buffers.

#include <algorithm>
#include <cstring>
#include <string>

#include "softnpu_kernel/copy.h"
#include "softnpu_kernel/matrix.h"

namespace softnpu::kernel {
namespace {

bool is_aligned(const Memory& memory, uint64_t bytes) {
  return reinterpret_cast<uintptr_t>(memory.address) % bytes == 0;
}

// Calls body(to, from, bytes, zeros) for each row of each block of columns.
template <typename Body>
void for_each_row(const FractalsOfRowsInstruction& copy, const Body& body) {
  const uint32_t width = kBlockBytes / copy.element_bytes;
  for (uint64_t matrix = 0; matrix < copy.matrices; ++matrix) {
    const auto* from =
        static_cast<const char*>(copy.source.address) + matrix * copy.source_matrix_step * copy.element_bytes;
    auto* to =
        static_cast<char*>(copy.destination.address) + matrix * copy.destination_matrix_step * copy.element_bytes;
    for (uint64_t column = 0; column < copy.columns; column += width) {
      const uint64_t bytes = std::min<uint64_t>(width, copy.columns - column) * copy.element_bytes;
      for (uint64_t row = 0; row < copy.rows; ++row)
        body(to + (column / width * copy.column_step + row * copy.row_step) * kBlockBytes,
             from + (row * copy.source_row_step + column) * copy.element_bytes, bytes, kBlockBytes - bytes);
    }
  }
}

}  // namespace

void execute_fractals_of_rows(const Instruction& instruction) {
  for_each_row(static_cast<const FractalsOfRowsInstruction&>(instruction),
               [](char* to, const char* from, uint64_t bytes, uint64_t zeros) {
                 std::memcpy(to, from, bytes);
                 std::memset(to + bytes, 0, zeros);
               });
}

void touch_fractals_of_rows(const Instruction& instruction, Touches* touches) {
  const auto& copy = static_cast<const FractalsOfRowsInstruction&>(instruction);
  if (!is_aligned(copy.destination, kBlockBytes))
    touches->misuse("DataCopy: the destination begins at an address of local memory that is no multiple of 32");
  if (copy.columns > copy.source_row_step && copy.rows > 1)
    touches->misuse("DataCopy: srcDValue is less than dValue: rows of the source overlap");
  const bool has_rows_apart = copy.row_step >= 1 && copy.column_step >= uint64_t{copy.rows} * copy.row_step;
  if (copy.columns * copy.element_bytes > kBlockBytes && !has_rows_apart)
    touches->misuse("DataCopy: dstNzC0Stride is less than nValue rows: blocks of columns overlap");
  touches->operand("dst", copy.destination);
  touches->operand("src", copy.source);
  for_each_row(copy, [&](char* to, const char* from, uint64_t bytes, uint64_t) {
    touches->read(from, bytes);
    touches->write(to, kBlockBytes);
  });
}

void execute_load_fractals(const Instruction& instruction) {
  const auto& load = static_cast<const LoadFractalsInstruction&>(instruction);
  auto* to = static_cast<char*>(load.destination.address);
  const auto* from = static_cast<const char*>(load.source.address);
  for (uint32_t i = 0; i < load.repeats;
       ++i, to += kFractalBytes, from += uint64_t{load.source_stride} * kFractalBytes) {
    if (!load.transposes) {
      std::memcpy(to, from, kFractalBytes);
      continue;
    }
    for (size_t row = 0; row < kFractalRows; ++row) {
      for (size_t column = 0; column < kFractalRows; ++column)
        std::memcpy(to + (column * kFractalRows + row) * 2, from + (row * kFractalRows + column) * 2, 2);
    }
  }
}

void touch_load_fractals(const Instruction& instruction, Touches* touches) {
  const auto& load = static_cast<const LoadFractalsInstruction&>(instruction);
  if (!is_aligned(load.destination, kFractalBytes))
    touches->misuse("LoadData: the destination is no multiple of 512 bytes: a fractal begins there");
  if (!is_aligned(load.source, kBlockBytes)) touches->misuse("LoadData: the source is no multiple of 32 bytes");
  if (load.repeats == 0) touches->misuse("LoadData: repeatTimes is 0");
  if (load.transposes && load.element_bytes != 2)
    touches->misuse("LoadData: ifTranspose takes elements of 2 bytes: only their fractals are square");
  touches->operand("dst", load.destination);
  touches->operand("src", load.source);
  auto* to = static_cast<char*>(load.destination.address);
  const auto* from = static_cast<const char*>(load.source.address);
  for (uint32_t i = 0; i < load.repeats;
       ++i, to += kFractalBytes, from += uint64_t{load.source_stride} * kFractalBytes) {
    touches->read(from, kFractalBytes);
    touches->write(to, kFractalBytes);
  }
}

}  // namespace softnpu::kernel
