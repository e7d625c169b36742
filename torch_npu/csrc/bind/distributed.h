#pragma once
// torch_npu._C._distributed_c10d: the process group of HCCL, a backend of torch.distributed.

#include <torch/csrc/utils/pybind.h>

namespace torch_npu {

// Defines _c10d_npu_init(), which makes the module; torch.distributed must have been imported.
void bind_distributed(pybind11::module_& m);

}  // namespace torch_npu
