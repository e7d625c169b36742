// Products of the cube's objects.

#include <cstring>
#include <string>
#include <vector>

#include "ascendc/instructions/copy/atomic.h"
#include "ascendc/instructions/matrix/gemm.h"
#include "softnpu_kernel/matrix.h"

namespace softnpu::kernel {
namespace {

GemmOperand operand_of(const MatrixOperand& matrix) {
  if (matrix.is_transposed) return {matrix.memory.address, matrix.type, 1, matrix.stride};
  return {matrix.memory.address, matrix.type, matrix.stride, 1};
}

// Rounds one row.
template <typename T, typename Sum>
void round_row(const Sum* sums, uint32_t count, void* to) {
  auto* row = static_cast<T*>(to);
  for (uint32_t j = 0; j < count; ++j) row[j] = static_cast<T>(sums[j]);
}

template <typename Sum>
void round_row(const Sum* sums, uint32_t count, DataType type, void* to) {
  switch (type) {
    case DataType::kHalf: return round_row<half>(sums, count, to);
    case DataType::kBfloat16: return round_row<bfloat16_t>(sums, count, to);
    case DataType::kInt32: return round_row<int32_t>(sums, count, to);
    default: return round_row<float>(sums, count, to);
  }
}

// Each sum is rounded to the result's type, and then added where the product adds.
template <typename Sum>
void store(const ProductInstruction& product, const std::vector<Sum>& sums) {
  const DataType type = product.result.type;
  const uint64_t step = product.result.stride * bytes_of(type);
  auto* to = static_cast<uint8_t*>(product.result.memory.address);
  std::vector<uint8_t> rounded(uint64_t{product.n} * bytes_of(type));
  for (uint64_t i = 0; i < product.m; ++i, to += step) {
    const Sum* row = sums.data() + i * product.n;
    if (!product.adds) {
      round_row(row, product.n, type, to);
      continue;
    }
    round_row(row, product.n, type, rounded.data());
    combine({AtomicOperation::kAdd, type}, to, rounded.data(), rounded.size());
  }
}

template <typename Sum>
void multiply(const ProductInstruction& product) {
  const GemmOperand left = operand_of(product.left);
  const GemmOperand right = operand_of(product.right);
  if (!product.adds && product.result.type == data_type_of<Sum>()) {
    gemm(left, right, product.m, product.n, product.k, static_cast<Sum*>(product.result.memory.address),
         product.result.stride);
    return;
  }
  static thread_local std::vector<Sum> sums;
  sums.resize(uint64_t{product.m} * product.n);
  gemm(left, right, product.m, product.n, product.k, sums.data(), product.n);
  store(product, sums);
  constexpr size_t kKept = size_t{4} << 20;  // more is given back
  if (sums.capacity() > kKept) std::vector<Sum>().swap(sums);
}

// The rows of a matrix as ranges of bytes, one where they follow each other.
template <typename Body>
void for_each_range(const MatrixOperand& matrix, uint32_t rows, uint32_t columns, const Body& body) {
  const uint64_t stored_rows = matrix.is_transposed ? columns : rows;
  const uint64_t row_bytes = uint64_t{matrix.is_transposed ? rows : columns} * bytes_of(matrix.type);
  const uint64_t step = matrix.stride * bytes_of(matrix.type);
  auto* at = static_cast<char*>(matrix.memory.address);
  if (step == row_bytes) return body(at, stored_rows * row_bytes);
  for (uint64_t i = 0; i < stored_rows; ++i, at += step) body(at, row_bytes);
}

// Whether stored rows overlap.
bool is_narrow(const MatrixOperand& matrix, uint32_t rows, uint32_t columns) {
  const uint32_t stored_rows = matrix.is_transposed ? columns : rows;
  return stored_rows > 1 && matrix.stride < (matrix.is_transposed ? rows : columns);
}

void check_stride(const ProductInstruction& product, const char* name, const MatrixOperand& matrix, uint32_t rows,
                  uint32_t columns, Touches* touches) {
  if (!is_narrow(matrix, rows, columns)) return;
  touches->misuse((std::string(product.name) + ": matrix " + name + " has " + std::to_string(rows) + " by " +
                   std::to_string(columns) + " elements" + (matrix.is_transposed ? ", transposed," : "") +
                   " but its stored rows are " + std::to_string(matrix.stride) +
                   " long: SetOrgShape or the tiling is of other sizes")
                      .c_str());
}

}  // namespace

void execute_product(const Instruction& instruction) {
  const auto& product = static_cast<const ProductInstruction&>(instruction);
  if (product.left.type == DataType::kInt8)
    multiply<int32_t>(product);
  else
    multiply<float>(product);
}

void touch_product(const Instruction& instruction, Touches* touches) {
  const auto& product = static_cast<const ProductInstruction&>(instruction);
  check_stride(product, "A", product.left, product.m, product.k, touches);
  check_stride(product, "B", product.right, product.k, product.n, touches);
  check_stride(product, "C", product.result, product.m, product.n, touches);
  touches->operand("A", product.left.memory);
  touches->operand("B", product.right.memory);
  touches->operand("C", product.result.memory);
  const auto read = [&](char* at, uint64_t bytes) { touches->read(at, bytes); };
  for_each_range(product.left, product.m, product.k, read);
  for_each_range(product.right, product.k, product.n, read);
  for_each_range(product.result, product.m, product.n, [&](char* at, uint64_t bytes) {
    if (product.adds)
      touches->combine(at, bytes);
    else
      touches->write(at, bytes);
  });
}

}  // namespace softnpu::kernel
