#include "ops/blas/matmul/problem.h"

#include <array>

#include "base/text.h"

namespace softnpu {
namespace {

using Operands = std::array<GemmOperand*, 4>;

Operands operands(MatmulProblem* problem) {
  return {&problem->a, &problem->b, &problem->c, problem->adds ? &problem->addend : &problem->c};
}

// Removes dimension i of the batch.
void drop(MatmulProblem* problem, size_t i) {
  const auto without = [i](const Dims& dims) {
    Dims out;
    for (size_t k = 0; k < dims.size(); ++k) {
      if (k != i) out.push_back(dims[k]);
    }
    return out;
  };
  problem->batch = without(problem->batch);
  for (GemmOperand* m : {&problem->a, &problem->b, &problem->c}) m->batch_strides = without(m->batch_strides);
  if (problem->adds) problem->addend.batch_strides = without(problem->addend.batch_strides);
}

}  // namespace

int64_t batch_offset(const Dims& batch, const Dims& strides, int64_t index) {
  int64_t offset = 0;
  for (size_t i = batch.size(); i-- > 0 && index != 0;) {
    const int64_t outer = index / batch[i];
    offset += (index - outer * batch[i]) * strides[i];
    index = outer;
  }
  return offset;
}

void simplify(MatmulProblem* problem) {
  for (size_t i = problem->batch.size(); i-- > 0;) {
    if (problem->batch[i] == 1) drop(problem, i);
  }
  for (size_t i = problem->batch.size(); i-- > 1;) {
    bool joins = true;
    for (const GemmOperand* m : operands(problem)) {
      joins = joins && m->batch_strides[i - 1] == m->batch_strides[i] * problem->batch[i];
    }
    if (!joins) continue;
    problem->batch[i] *= problem->batch[i - 1];
    drop(problem, i - 1);
  }
  while (!problem->batch.empty() && problem->b.batch_strides.back() == 0) {
    bool joins = true;
    for (const GemmOperand* m : {&problem->a, &problem->c, problem->adds ? &problem->addend : &problem->c}) {
      const int64_t next = m->rows == 1 ? m->batch_strides.back() : m->row_stride * m->rows;
      joins = joins && next == m->batch_strides.back();
    }
    if (!joins) break;
    const int64_t count = problem->batch.back();
    for (GemmOperand* m : {&problem->a, &problem->c, &problem->addend}) {
      if (m == &problem->addend && !problem->adds) continue;
      if (m->rows == 1) m->row_stride = m->batch_strides.back();
      m->rows *= count;
    }
    drop(problem, problem->batch.size() - 1);
  }
}

bool is_bias_row(const GemmOperand& addend) {
  for (int64_t stride : addend.batch_strides) {
    if (stride != 0) return false;
  }
  return (addend.row_stride == 0 || addend.rows == 1) && (addend.k_stride == 1 || addend.k == 1);
}

bool is_same_memory(const GemmOperand& x, const GemmOperand& y) {
  return x.data == y.data && x.dtype == y.dtype && x.batch_strides == y.batch_strides && x.row_stride == y.row_stride &&
         x.k_stride == y.k_stride;
}

MemoryAccess memory_of(const GemmOperand& m, const Dims& batch) {
  int64_t last = 0;
  for (size_t i = 0; i < batch.size(); ++i) last += (batch[i] - 1) * m.batch_strides[i];
  const int64_t k_tiles = m.is_tiled() ? (m.k + m.k_tile - 1) / m.k_tile : 1;
  last += (m.rows - 1) * m.row_stride + (m.k_tile - 1) * m.k_stride + (k_tiles - 1) * m.k_tile_stride;
  return {m.data, m.at(last + 1), 0, false};
}

MemoryAccess output_access(const MatmulProblem& p) {
  MemoryAccess memory = memory_of(p.c, p.batch);
  memory.element_bytes = static_cast<uint32_t>(aclDataTypeSize(p.c.dtype));
  memory.is_written = true;
  return memory;
}

void add_accesses(const MatmulProblem& p, const void* workspace, uint64_t bytes, std::vector<MemoryAccess>* to) {
  to->push_back(memory_of(p.a, p.batch));
  to->push_back(memory_of(p.b, p.batch));
  if (p.adds) to->push_back(memory_of(p.addend, p.batch));
  const auto* space = static_cast<const char*>(workspace);
  if (bytes > 0) to->push_back({space, space + bytes, 0, true});
}

std::string describe(const MatmulProblem& problem) {
  const char* name = name_of(problem.dtype);
  return text("(", name, "[", problem.batch_count(), ", ", problem.a.rows, ", ", problem.a.k, "], ", name, "[",
              problem.batch_count(), ", ", problem.b.k, ", ", problem.b.rows, "])");
}

}  // namespace softnpu
