// Products of tiles of fractals.

#include <cstring>
#include <string>
#include <vector>

#include "ascendc/instructions/matrix/gemm.h"
#include "softnpu_kernel/matrix.h"

namespace softnpu::kernel {
namespace {

constexpr uint64_t blocks(uint64_t size, uint64_t block) { return (size + block - 1) / block; }

// How many fractals each operand has in each direction.
struct Fractals {
  uint64_t rows;     // of left and destination
  uint64_t columns;  // of right and destination
  uint64_t depth;
};

Fractals fractals_of(const MmadInstruction& mmad) {
  return {blocks(mmad.m, kFractalRows), blocks(mmad.n, kFractalRows), blocks(mmad.k, fractal_columns(mmad.type))};
}

// The fractals' elements as a matrix of whole fractals, row after row; `right` transposed, column after column.
std::vector<char> rows_of_left(const MmadInstruction& mmad, const Fractals& count) {
  constexpr uint64_t kRowBytes = kFractalBytes / kFractalRows;
  std::vector<char> result(count.rows * count.depth * kFractalBytes);
  const auto* from = static_cast<const char*>(mmad.left.address);
  for (uint64_t i = 0; i < count.rows; ++i) {
    for (uint64_t p = 0; p < count.depth; ++p) {
      for (uint64_t row = 0; row < kFractalRows; ++row, from += kRowBytes)
        std::memcpy(result.data() + ((i * kFractalRows + row) * count.depth + p) * kRowBytes, from, kRowBytes);
    }
  }
  return result;
}
std::vector<char> columns_of_right(const MmadInstruction& mmad, const Fractals& count) {
  constexpr uint64_t kRowBytes = kFractalBytes / kFractalRows;
  std::vector<char> result(count.columns * count.depth * kFractalBytes);
  const auto* from = static_cast<const char*>(mmad.right.address);
  for (uint64_t p = 0; p < count.depth; ++p) {
    for (uint64_t j = 0; j < count.columns; ++j) {
      for (uint64_t column = 0; column < kFractalRows; ++column, from += kRowBytes)
        std::memcpy(result.data() + ((j * kFractalRows + column) * count.depth + p) * kRowBytes, from, kRowBytes);
    }
  }
  return result;
}

template <typename T>
void multiply(const MmadInstruction& mmad) {
  const Fractals count = fractals_of(mmad);
  const std::vector<char> left = rows_of_left(mmad, count);
  const std::vector<char> right = columns_of_right(mmad, count);
  const size_t depth = count.depth * fractal_columns(mmad.type);
  const size_t rows = count.rows * kFractalRows;
  // Each block of 16 columns of the result is a matrix of its own. Elements beyond m, n and k do not count.
  auto* to = static_cast<T*>(mmad.destination.address);
  std::vector<T> sums(rows * count.columns * kFractalRows);
  gemm({left.data(), mmad.type, depth, 1}, {right.data(), mmad.type, 1, depth}, mmad.m, mmad.n, mmad.k, sums.data(),
       count.columns * kFractalRows);
  for (size_t j = 0; j < count.columns; ++j) {
    for (size_t i = 0; i < rows; ++i, to += kFractalRows)
      std::memcpy(to, sums.data() + (i * count.columns + j) * kFractalRows, kFractalRows * sizeof(T));
  }
}

}  // namespace

void execute_mmad(const Instruction& instruction) {
  const auto& mmad = static_cast<const MmadInstruction&>(instruction);
  if (mmad.result_type == DataType::kInt32)
    multiply<int32_t>(mmad);
  else
    multiply<float>(mmad);
}

void touch_mmad(const Instruction& instruction, Touches* touches) {
  const auto& mmad = static_cast<const MmadInstruction&>(instruction);
  constexpr uint32_t kMax = 4095;
  if (mmad.m == 0 || mmad.n == 0 || mmad.k == 0 || mmad.m > kMax || mmad.n > kMax || mmad.k > kMax)
    touches->misuse(("Mmad: m, n and k are " + std::to_string(mmad.m) + ", " + std::to_string(mmad.n) + " and " +
                     std::to_string(mmad.k) + ": each is 1 to 4095")
                        .c_str());
  if (mmad.has_others) touches->misuse("Mmad: parameters behind m, n and k have to be 0: others are not implemented");
  for (const Memory* operand : {&mmad.destination, &mmad.left, &mmad.right}) {
    if (reinterpret_cast<uintptr_t>(operand->address) % kFractalBytes != 0)
      touches->misuse("Mmad: an operand's address is no multiple of 512 bytes: a fractal begins there");
  }
  touches->operand("dst", mmad.destination);
  touches->operand("src0", mmad.left);
  touches->operand("src1", mmad.right);
  const Fractals count = fractals_of(mmad);
  touches->read(mmad.left.address, count.rows * count.depth * kFractalBytes);
  touches->read(mmad.right.address, count.columns * count.depth * kFractalBytes);
  touches->write(mmad.destination.address, count.rows * count.columns * kFractalRows * kFractalRows * 4);
}

}  // namespace softnpu::kernel
