#include "aten/aicpu/checks.h"

#include <algorithm>

namespace torch_npu::aicpu {

void check_pivots(const at::Tensor& lu, const at::Tensor& pivots) {
  if (lu.dim() < 2) return;  // the kernel refuses it
  const int64_t needed = std::min(lu.size(-2), lu.size(-1));
  TORCH_CHECK(pivots.dim() >= 1 && pivots.size(-1) >= needed, "lu_unpack: LU_pivots has the shape ", pivots.sizes(),
              " where matrices of ", lu.size(-2), " x ", lu.size(-1), " have ", needed,
              " pivots each; pass what torch.linalg.lu_factor returned");
}

}  // namespace torch_npu::aicpu
