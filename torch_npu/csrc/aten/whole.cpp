// Operators for which PyTorch registers a decomposition for every device beside a kernel for the CPU. A backend's
// fallback never sees them, so they are named here: npu takes the CPU's kernel, as one call.

#include <torch/library.h>

#include "aten/aicpu/fallback.h"

namespace torch_npu {
namespace {

void take(torch::Library& m, std::initializer_list<const char*> names) {
  for (const char* name : names) m.impl(name, torch::CppFunction::makeFromBoxedFunction<&aicpu::fallback>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  take(m, {"convolution", "convolution_backward", "_convolution", "conj_physical_", "mode.values"});
}

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) {
  take(m,
       {"abs",       "abs_",     "empty_like",  "nan_to_num", "nan_to_num_",  "mv",          "narrow_copy", "permute",
        "rad2deg",   "rad2deg_", "rad2deg.out", "deg2rad",    "deg2rad_",     "deg2rad.out", "sum",         "unsqueeze",
        "zeros.out", "clone",    "sparse_dim",  "dense_dim",  "is_coalesced", "indices",     "values",      "isinf"});
}

TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, m) {
  take(m,
       {"abs",          "abs_",        "_conj_physical", "conj_physical_", "empty_like", "mul.Scalar",   "mul_.Scalar",
        "rad2deg",      "rad2deg_",    "rad2deg.out",    "deg2rad",        "deg2rad_",   "deg2rad.out",  "select.int",
        "sum",          "clone",       "sparse_dim",     "dense_dim",      "values",     "crow_indices", "col_indices",
        "ccol_indices", "row_indices", "isinf",          "select_copy.int"});
}

}  // namespace
}  // namespace torch_npu
