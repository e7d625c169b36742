#include "ascendc/timeline/cost.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ascendc/instructions/vector/repeats.h"
#include "softnpu_kernel/copy.h"
#include "softnpu_kernel/math.h"
#include "softnpu_kernel/matrix.h"
#include "softnpu_kernel/vector.h"
#include "softnpu_kernel/vector_reduce.h"
#include "softnpu_kernel/vector_select.h"

namespace softnpu::kernel::timeline {
namespace {

uint64_t sum_of(const std::vector<check::Range>& ranges) {
  uint64_t bytes = 0;
  for (const check::Range& range : ranges) bytes += range.bytes;
  return bytes;
}

uint32_t rounded(double cycles) { return static_cast<uint32_t>(std::ceil(std::min(cycles, 4e9))); }

Cost cost_of_copy(const CopyInstruction& copy, const Figures& figures) {
  const uint64_t bytes = uint64_t{copy.bursts} * copy.burst_bytes;
  if (!copy.is_global_source && !copy.is_global_destination)
    return {rounded(figures.vector_start + static_cast<double>(bytes) / figures.vector_bytes), 0};
  const auto line = static_cast<uint64_t>(figures.line_bytes);
  const Memory& global = copy.is_global_source ? copy.source : copy.destination;
  const uint64_t step = copy.is_global_source ? copy.source_step : copy.destination_step;
  auto address = reinterpret_cast<uint64_t>(global.address);
  uint64_t lines = 0;
  uint64_t next = 0;  // the first line that was not counted: bursts side by side share one
  for (uint32_t i = 0; i < copy.bursts && copy.burst_bytes > 0; ++i, address += step) {
    const uint64_t first = std::max(address / line, step == copy.burst_bytes ? next : 0);
    next = (address + copy.burst_bytes - 1) / line + 1;
    lines += next - first;
  }
  return {rounded(figures.copy_start + figures.burst * copy.bursts), lines * line};
}

// How many passes over 256 bytes an instruction of the vector unit makes.
double passes_of(const Instruction& instruction, check::Touched* touched, const Figures& figures) {
  const auto execute = instruction.execute;
  if (execute == &execute_vector || execute == &execute_compare || execute == &execute_select) {
    const auto& v = static_cast<const VectorInstruction&>(instruction);
    return static_cast<double>(repeats_of(v.mask, v.repeats, lanes_of(v)));
  }
  if (execute == &execute_masked_copy) return static_cast<const MaskedCopyInstruction&>(instruction).repeats;
  if (execute == &execute_reduce) {
    const auto& reduce = static_cast<const ReduceInstruction&>(instruction);
    if (reduce.span != ReduceInstruction::Span::kRow)
      return static_cast<double>(repeats_of(reduce.mask, reduce.repeats, kRepeatBytes / bytes_of(reduce.type)));
  }
  const uint64_t bytes = std::max(sum_of(touched->reads()), sum_of(touched->writes()));
  const double passes = std::ceil(static_cast<double>(bytes) / kRepeatBytes);
  return execute == &execute_math ? passes * figures.function_passes : passes;
}

// Fractals of any type take equally long.
double cube_cycles(uint64_t m, uint64_t n, uint64_t k, DataType type, const Figures& figures) {
  const auto fractals = [](uint64_t size, uint64_t of) {
    const uint64_t count = (size + of - 1) / of;
    return static_cast<double>(count);
  };
  constexpr double kOfFractals = 16 * 16 * 16;
  return fractals(m, kFractalRows) * fractals(n, kFractalRows) * fractals(k, fractal_columns(type)) * kOfFractals /
         figures.cube;
}

// Lines of `rows` stored rows, each for itself.
uint64_t line_bytes_of(const MatrixOperand& matrix, uint64_t rows, uint64_t columns, const Figures& figures) {
  if (!matrix.is_global) return 0;
  if (matrix.is_transposed) std::swap(rows, columns);
  const auto line = static_cast<uint64_t>(figures.line_bytes);
  const uint64_t step = matrix.stride * bytes_of(matrix.type);
  const uint64_t bytes = columns * bytes_of(matrix.type);
  auto address = reinterpret_cast<uint64_t>(matrix.memory.address);
  uint64_t lines = 0;
  for (uint64_t i = 0; i < rows; ++i, address += step) lines += (address + bytes - 1) / line - address / line + 1;
  return lines * line;
}

Cost cost_of_product(const ProductInstruction& product, const Figures& figures) {
  const uint64_t lines = line_bytes_of(product.left, product.m, product.k, figures) +
                         line_bytes_of(product.right, product.k, product.n, figures) +
                         line_bytes_of(product.result, product.m, product.n, figures);
  const double cycles = cube_cycles(product.m, product.n, product.k, product.left.type, figures);
  return {rounded(figures.copy_start + cycles), lines};
}

Cost cost_of_fractals(const FractalsOfRowsInstruction& copy, const Figures& figures) {
  MatrixOperand source{copy.source, copy.source_row_step, DataType::kInt8, false, true};
  source.stride *= copy.element_bytes;
  const uint64_t lines = line_bytes_of(source, copy.rows, uint64_t{copy.columns} * copy.element_bytes, figures);
  return {rounded(figures.copy_start + figures.burst * copy.rows * copy.matrices), lines * copy.matrices};
}

}  // namespace

Cost cost_of(const Instruction& instruction, check::Touched* touched, const Figures& figures) {
  if (instruction.execute == &execute_copy)
    return cost_of_copy(static_cast<const CopyInstruction&>(instruction), figures);
  if (instruction.execute == &execute_product)
    return cost_of_product(static_cast<const ProductInstruction&>(instruction), figures);
  if (instruction.execute == &execute_fractals_of_rows)
    return cost_of_fractals(static_cast<const FractalsOfRowsInstruction&>(instruction), figures);
  if (instruction.execute == &execute_mmad) {
    const auto& mmad = static_cast<const MmadInstruction&>(instruction);
    return {rounded(figures.vector_start + cube_cycles(mmad.m, mmad.n, mmad.k, mmad.type, figures)), 0};
  }
  if (instruction.pipe == Pipe::kS) return {rounded(figures.scalar_local), 0};
  const double passes = passes_of(instruction, touched, figures);
  return {rounded(figures.vector_start + passes * kRepeatBytes / figures.vector_bytes), 0};
}

}  // namespace softnpu::kernel::timeline
