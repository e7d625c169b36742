#pragma once
// The matrix unit: copies into its buffers, and products of tiles. Sources: Ascend/samples, kernel_invocation/MatMul;
// Nd2NzParams: sgl-kernel-npu. See PROVENANCE.md.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include "ascendc/data_copy.h"
#include "ascendc/tensor.h"
#include "softnpu_kernel/matrix.h"

namespace AscendC {

// Rows of global memory to fractals. `ndNum` matrices of `nValue` rows and `dValue` columns; `srcDValue` elements from
// one row to the next; `dstNzC0Stride` and `dstNzNStride` in 32 bytes, from one block of columns and from one row to
// the next; steps of matrices in elements.
struct Nd2NzParams {
  Nd2NzParams() = default;  // no aggregate: {count, length, gap, gap} is a DataCopyParams

  uint16_t ndNum = 1;
  uint16_t nValue = 0;
  uint16_t dValue = 0;
  uint64_t srcNdMatrixStride = 0;
  uint16_t srcDValue = 0;
  uint16_t dstNzC0Stride = 0;
  uint16_t dstNzNStride = 1;
  uint64_t dstNzMatrixStride = 0;
};

// `repeatTimes` fractals, `srcStride` fractals from one to the next.
struct LoadData2dParams {
  uint8_t repeatTimes = 1;
  uint16_t srcStride = 1;
  bool ifTranspose = false;  // each fractal; elements of 2 bytes
};

// The sizes of a product. No permitted source names what follows them, all of which has to be zero.
struct MmadParams {
  constexpr MmadParams() = default;
  constexpr MmadParams(uint16_t rows, uint16_t columns, uint16_t depth, bool fourth = false, uint8_t fifth = 0,
                       bool sixth = false, bool seventh = false, bool eighth = false)
      : m(rows), n(columns), k(depth), has_others(fourth || fifth != 0 || sixth || seventh || eighth) {}

  uint16_t m = 0;
  uint16_t n = 0;
  uint16_t k = 0;
  bool has_others = false;  // for the headers
};

// BLOCK_MODE_MATRIX: lengths count fractals of 16 rows and 16 columns.
enum class BlockMode : uint8_t { kUnset, BLOCK_MODE_MATRIX };
struct DataCopyEnhancedParams {
  BlockMode blockMode = BlockMode::kUnset;
};

namespace matrix {

using Where = std::source_location;

constexpr bool is_at(const TPosition position, softnpu::kernel::LocalMemory memory) {
  return softnpu::kernel::memory_of(position) == memory;
}

}  // namespace matrix

template <typename T>
void DataCopy(const LocalTensor<T>& to, const GlobalTensor<T>& from, const Nd2NzParams& params,
              const matrix::Where& where = matrix::Where::current()) {
  if (!matrix::is_at(to.GetPosition(), softnpu::kernel::LocalMemory::kL1))
    softnpu::kernel::fail("DataCopy with Nd2NzParams: the destination has to be in L1: A1, B1 or TSCM", where);
  auto result = softnpu::kernel::make_instruction<softnpu::kernel::FractalsOfRowsInstruction>(
      "DataCopy", softnpu::kernel::Pipe::kMte2, &softnpu::kernel::execute_fractals_of_rows,
      &softnpu::kernel::touch_fractals_of_rows, where);
  result.destination = to.memory();
  result.source = from.memory();
  result.matrices = params.ndNum;
  result.rows = params.nValue;
  result.columns = params.dValue;
  result.source_matrix_step = params.srcNdMatrixStride;
  result.source_row_step = params.srcDValue;
  result.column_step = params.dstNzC0Stride;
  result.row_step = params.dstNzNStride;
  result.destination_matrix_step = params.dstNzMatrixStride;
  result.element_bytes = sizeof(T);
  softnpu::kernel::issue(result);
}

// From L0C to CO2, in fractals: blockCount bursts of blockLen of them, which follow each other on both sides.
template <typename T>
void DataCopy(const LocalTensor<T>& to, const LocalTensor<T>& from, const DataCopyParams& params,
              const DataCopyEnhancedParams& enhanced, const matrix::Where& where = matrix::Where::current()) {
  static_assert(sizeof(T) == 4, "L0C has elements of 4 bytes");
  if (!matrix::is_at(from.GetPosition(), softnpu::kernel::LocalMemory::kL0C) ||
      !matrix::is_at(to.GetPosition(), softnpu::kernel::LocalMemory::kUnified))
    softnpu::kernel::fail("DataCopy with DataCopyEnhancedParams: it copies from CO1 to CO2", where);
  if (enhanced.blockMode != BlockMode::BLOCK_MODE_MATRIX)
    softnpu::kernel::fail("DataCopy with DataCopyEnhancedParams: blockMode has to be BLOCK_MODE_MATRIX", where);
  if (params.srcStride != 0 || params.dstStride != 0)
    softnpu::kernel::fail("DataCopy with DataCopyEnhancedParams: strides have to be 0", where);
  constexpr uint32_t kFractal = 16 * 16 * sizeof(T);
  auto result = copying::instruction("DataCopy", softnpu::kernel::Pipe::kV, sizeof(T), where);
  result.destination = to.memory();
  result.source = from.memory();
  result.bursts = params.blockCount;
  result.burst_bytes = params.blockLen * kFractal;
  result.source_step = result.destination_step = result.burst_bytes;
  result.most_bursts = 4095;
  result.most_burst_bytes = 128 * kFractal;
  softnpu::kernel::issue(result);
}

// From L1 to L0A or L0B.
template <typename T>
void LoadData(const LocalTensor<T>& to, const LocalTensor<T>& from, const LoadData2dParams& params,
              const matrix::Where& where = matrix::Where::current()) {
  using softnpu::kernel::LocalMemory;
  const bool is_right = matrix::is_at(to.GetPosition(), LocalMemory::kL0B);
  if (!matrix::is_at(from.GetPosition(), LocalMemory::kL1) ||
      (!is_right && !matrix::is_at(to.GetPosition(), LocalMemory::kL0A)))
    softnpu::kernel::fail("LoadData: it copies from A1 to A2, or from B1 to B2", where);
  if (params.ifTranspose && sizeof(T) != 2)
    softnpu::kernel::fail("LoadData: ifTranspose takes elements of 2 bytes", where);
  auto result = softnpu::kernel::make_instruction<softnpu::kernel::LoadFractalsInstruction>(
      "LoadData", softnpu::kernel::Pipe::kMte1, &softnpu::kernel::execute_load_fractals,
      &softnpu::kernel::touch_load_fractals, where);
  result.destination = to.memory();
  result.source = from.memory();
  result.repeats = params.repeatTimes;
  result.source_stride = params.srcStride;
  result.element_bytes = sizeof(T);
  result.transposes = params.ifTranspose;
  softnpu::kernel::issue(result);
}

// c = a b, of half, bfloat16_t or float to float, or of int8_t to int32_t.
template <typename C, typename T>
void Mmad(const LocalTensor<C>& c, const LocalTensor<T>& a, const LocalTensor<T>& b, const MmadParams& params,
          const matrix::Where& where = matrix::Where::current()) {
  constexpr bool is_float = std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float>;
  static_assert((is_float && std::is_same_v<C, float>) || (std::is_same_v<T, int8_t> && std::is_same_v<C, int32_t>),
                "Mmad: half, bfloat16_t or float give float, int8_t gives int32_t");
  using softnpu::kernel::LocalMemory;
  if (!matrix::is_at(c.GetPosition(), LocalMemory::kL0C) || !matrix::is_at(a.GetPosition(), LocalMemory::kL0A) ||
      !matrix::is_at(b.GetPosition(), LocalMemory::kL0B))
    softnpu::kernel::fail("Mmad: the operands have to be in CO1, A2 and B2", where);
  if (params.has_others)
    softnpu::kernel::fail("Mmad: the parameters behind k are not implemented: they have to be zero", where);
  auto result = softnpu::kernel::make_instruction<softnpu::kernel::MmadInstruction>(
      "Mmad", softnpu::kernel::Pipe::kM, &softnpu::kernel::execute_mmad, &softnpu::kernel::touch_mmad, where);
  result.destination = c.memory();
  result.left = a.memory();
  result.right = b.memory();
  result.m = params.m;
  result.n = params.n;
  result.k = params.k;
  result.type = softnpu::kernel::data_type_of<T>();
  result.result_type = softnpu::kernel::data_type_of<C>();
  result.has_others = params.has_others;
  softnpu::kernel::issue(result);
}

}  // namespace AscendC
