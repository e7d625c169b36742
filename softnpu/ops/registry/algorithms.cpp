// The rows of all tables of algorithms, for libopapi's clients.

#include "ops/nn/conv/algorithms.h"
#include "base/border.h"
#include "ops/blas/matmul/algorithms.h"
#include "ops/nn/grid_sample/algorithms.h"
#include "softnpu/tuning.h"

namespace {

template <typename Table>
void visit_rows(const char* name, const Table& table, void (*visit)(const softnpuAlgorithm*, void*), void* argument) {
  for (const auto& row : table) {
    const softnpuAlgorithm message{name, row.name, row.use == softnpu::Use::kByTime ? 1 : 0};
    visit(&message, argument);
  }
}

}  // namespace

void softnpuVisitAlgorithms(void (*visit)(const softnpuAlgorithm*, void*), void* argument) {
  softnpu::guarded([&] {
    visit_rows("convolution", softnpu::kConvAlgorithms, visit, argument);
    visit_rows("product", softnpu::kProductAlgorithms, visit, argument);
    visit_rows("sampling", softnpu::kSamplers, visit, argument);
    visit_rows("gradient of sampling", softnpu::kGradientSamplers, visit, argument);
  });
}
