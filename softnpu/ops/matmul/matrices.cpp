#include "ops/matmul/matrices.h"

#include <array>

#include "base/text.h"

namespace softnpu {
namespace {

using Operands = std::array<Matrices*, 4>;

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
  for (Matrices* m : {&problem->a, &problem->b, &problem->c}) m->batch_strides = without(m->batch_strides);
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
    for (const Matrices* m : operands(problem)) {
      joins = joins && m->batch_strides[i - 1] == m->batch_strides[i] * problem->batch[i];
    }
    if (!joins) continue;
    problem->batch[i] *= problem->batch[i - 1];
    drop(problem, i - 1);
  }
  while (!problem->batch.empty() && problem->b.batch_strides.back() == 0) {
    bool joins = true;
    for (const Matrices* m : {&problem->a, &problem->c, problem->adds ? &problem->addend : &problem->c}) {
      const int64_t next = m->lines == 1 ? m->batch_strides.back() : m->line_stride * m->lines;
      joins = joins && next == m->batch_strides.back();
    }
    if (!joins) break;
    const int64_t count = problem->batch.back();
    for (Matrices* m : {&problem->a, &problem->c, &problem->addend}) {
      if (m == &problem->addend && !problem->adds) continue;
      if (m->lines == 1) m->line_stride = m->batch_strides.back();
      m->lines *= count;
    }
    drop(problem, problem->batch.size() - 1);
  }
}

bool is_row(const Matrices& addend) {
  for (int64_t stride : addend.batch_strides) {
    if (stride != 0) return false;
  }
  return (addend.line_stride == 0 || addend.lines == 1) && (addend.depth_stride == 1 || addend.depth == 1);
}

bool is_same_place(const Matrices& x, const Matrices& y) {
  return x.data == y.data && x.dtype == y.dtype && x.batch_strides == y.batch_strides &&
         x.line_stride == y.line_stride && x.depth_stride == y.depth_stride;
}

MemoryAccess memory_of(const Matrices& m, const Dims& batch) {
  int64_t last = 0;
  for (size_t i = 0; i < batch.size(); ++i) last += (batch[i] - 1) * m.batch_strides[i];
  const int64_t pieces = m.in_pieces() ? (m.depth + m.piece - 1) / m.piece : 1;
  last += (m.lines - 1) * m.line_stride + (m.piece - 1) * m.depth_stride + (pieces - 1) * m.piece_stride;
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
  return text("(", name, "[", problem.batch_count(), ", ", problem.a.lines, ", ", problem.a.depth, "], ", name, "[",
              problem.batch_count(), ", ", problem.b.depth, ", ", problem.b.lines, "])");
}

}  // namespace softnpu
