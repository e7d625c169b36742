#pragma once
// The factor of ReduceOp.PREMUL_SUM. Up to torch 2.12 its type has another name.

#include <torch/version.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

namespace torch_npu::compat {

#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 13
using PreMulSumSupplement = c10d::NCCLPreMulSumSupplement;
#else
using PreMulSumSupplement = c10d::PreMulSumSupplement;
#endif

}  // namespace torch_npu::compat
