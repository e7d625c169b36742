// Which rows torch.repeat_interleave takes, and how often.

#include <ATen/core/Tensor.h>
#include <ATen/ops/repeat_interleave_cpu_dispatch.h>
#include <torch/library.h>

#include <optional>

#include "aten/aclnn/host.h"

namespace torch_npu {
namespace {

using Repeat = at::Tensor (*)(const at::Tensor&, std::optional<int64_t>);

// ATen's kernel checks the numbers and then reads them again: what another process writes in between must not reach it.
at::Tensor repeat_interleave(const at::Tensor& repeats, std::optional<int64_t> output_size) {
  return aclnn_check::Host<"repeat_interleave.Tensor", static_cast<Repeat>(&at::cpu::repeat_interleave)>::call(
      repeats.clone(), output_size);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("repeat_interleave.Tensor", &repeat_interleave); }

}  // namespace
}  // namespace torch_npu
