#pragma once
// Instructions of the matrix unit and the copies that feed it, as data. A fractal is 16 rows of 32 bytes.

#include <cstdint>

#include "softnpu_kernel/core.h"

namespace softnpu::kernel {

inline constexpr uint32_t kFractalRows = 16;
inline constexpr uint32_t kFractalBytes = 512;

// Columns of a fractal.
constexpr uint32_t fractal_columns(DataType type) { return kFractalBytes / kFractalRows / bytes_of(type); }

// Rows of global memory become fractals, column block after column block: column c of row r is written at
// (c / C0 * column_step + r * row_step) * 32 bytes + c % C0 elements, where C0 elements are 32 bytes. The last block's
// missing columns are zeros.
struct FractalsOfRowsInstruction : Instruction {
  Memory destination;
  Memory source;
  uint32_t matrices;
  uint32_t rows;
  uint32_t columns;
  uint64_t source_matrix_step;       // in elements
  uint64_t source_row_step;          // in elements
  uint32_t column_step;              // in 32 bytes
  uint32_t row_step;                 // in 32 bytes
  uint64_t destination_matrix_step;  // in elements
  uint32_t element_bytes;
};
SOFTNPU_KERNEL_EXPORT void execute_fractals_of_rows(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_fractals_of_rows(const Instruction& instruction, Touches* touches);

// Copies fractals from L1 to L0A or L0B, where they follow each other.
struct LoadFractalsInstruction : Instruction {
  Memory destination;
  Memory source;
  uint32_t repeats;
  uint32_t source_stride;  // from one fractal to the next, in fractals
  uint32_t element_bytes;
  bool transposes;  // each fractal
};
SOFTNPU_KERNEL_EXPORT void execute_load_fractals(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_load_fractals(const Instruction& instruction, Touches* touches);

// destination = left right, of one tile in L0A, L0B and L0C. C0 elements are 32 bytes.
//   left, m by k: fractals of 16 rows and C0 columns, row block after row block
//   right, k by n: fractals of C0 rows and 16 columns, transposed; row block after row block
//   destination, m by n: blocks of 16 columns, each of all rows up to a multiple of 16
struct MmadInstruction : Instruction {
  Memory destination;
  Memory left;
  Memory right;
  uint32_t m;
  uint32_t n;
  uint32_t k;
  DataType type;         // of left and right
  DataType result_type;  // kFloat, or kInt32 for kInt8
  bool has_others;       // parameters whose meaning is not known are not zero
};
SOFTNPU_KERNEL_EXPORT void execute_mmad(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_mmad(const Instruction& instruction, Touches* touches);

// A matrix in global or unified memory.
struct MatrixOperand {
  Memory memory;
  uint64_t stride;  // from one stored row to the next, in elements
  DataType type;
  bool is_transposed;  // stored rows are the matrix's columns
  bool is_global;
};

// result = left right, or result += left right: what the objects of the cube compute, with any m, n and k.
struct ProductInstruction : Instruction {
  MatrixOperand left;   // m by k
  MatrixOperand right;  // k by n
  MatrixOperand result;
  uint32_t m;
  uint32_t n;
  uint32_t k;
  bool adds;
};
SOFTNPU_KERNEL_EXPORT void execute_product(const Instruction& instruction);
SOFTNPU_KERNEL_EXPORT void touch_product(const Instruction& instruction, Touches* touches);

}  // namespace softnpu::kernel
