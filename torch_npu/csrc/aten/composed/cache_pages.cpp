#include "aten/composed/cache_pages.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

namespace torch_npu::custom {

using at::Tensor;

void Pages::write(const Tensor& rows, const Tensor& slots) const {
  constexpr int64_t kBytes = 32;
  const Tensor is_kept = slots >= 0;
  const Tensor kept_slots = slots.masked_select(is_kept).to(at::kLong);
  const Tensor kept = rows.index({is_kept});
  const int64_t tokens = cache.size(1), channels = cache.size(-1);
  TORCH_CHECK(kept_slots.numel() == 0 || kept_slots.max().item().toLong() < cache.size(0) * tokens, name,
              ": index has ", kept_slots.max().item(), " for ", cache.size(0) * tokens, " slots");
  if (!is_blocked) {
    cache.view({-1, channels}).index_copy_(0, kept_slots, kept);
    return;
  }
  const int64_t block = kBytes / cache.element_size();
  const Tensor pages = cache.view({cache.size(0), channels / block, tokens, block}).transpose(1, 2);
  const Tensor page = at::div(kept_slots, tokens, "floor");
  pages.index_put_({page, kept_slots - page * tokens}, kept.reshape({-1, channels / block, block}));
}

Tensor rotated_pairs(const Tensor& x, const Tensor& cos, const Tensor& sin) {
  const Tensor a = x.slice(-1, 0, std::nullopt, 2), b = x.slice(-1, 1, std::nullopt, 2);
  return at::cat({a, b}, -1) * cos + at::cat({-b, a}, -1) * sin;
}

}  // namespace torch_npu::custom
