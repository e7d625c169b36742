#include "aten/aicpu/dense_lists.h"

#include <ATen/MemoryOverlap.h>

#include <algorithm>

namespace torch_npu::aicpu {
namespace {

bool is_dense(const at::Tensor& tensor) { return tensor.unsafeGetTensorImpl()->is_non_overlapping_and_dense(); }

// Whether both have their elements in one order; strides of single elements do not count.
bool same_order(const at::Tensor& a, const at::Tensor& b) {
  for (int64_t d = 0; d < a.dim(); ++d) {
    if (a.size(d) > 1 && a.stride(d) != b.stride(d)) return false;
  }
  return true;
}

// Without the repetitions of an expanded tensor, of which all have the same element.
at::Tensor stored_part(at::Tensor part, const at::Tensor& original) {
  for (int64_t d = 0; d < original.dim(); ++d) {
    if (original.stride(d) == 0 && original.size(d) > 1) part = part.narrow(d, 0, 1);
  }
  return part;
}

}  // namespace

DenseLists::DenseLists(std::vector<std::vector<at::Tensor>*> lists) {
  const std::size_t count = lists.empty() ? 0 : lists[0]->size();
  for (std::size_t i = 0; i < count; ++i) {
    const at::Tensor leader = (*lists[0])[i];
    const auto belongs = [&](const std::vector<at::Tensor>* list) {
      return list->size() > i && (*list)[i].defined() && (*list)[i].sizes() == leader.sizes();
    };
    at::assert_no_internal_overlap(leader);
    const bool fits = is_dense(leader) && std::ranges::all_of(lists, [&](const auto* list) {
                        return !belongs(list) || same_order((*list)[i], leader);
                      });
    if (fits) continue;
    for (auto* list : lists) {
      if (!belongs(list) || (*list)[i].is_contiguous()) continue;
      replaced_.push_back({list, i, (*list)[i]});
      (*list)[i] = (*list)[i].contiguous();
    }
  }
}

void DenseLists::write_back() {
  for (const Replaced& replaced : replaced_) {
    at::Tensor& copy = (*replaced.list)[replaced.index];
    stored_part(replaced.original, replaced.original).copy_(stored_part(copy, replaced.original));
    copy = replaced.original;
  }
}

}  // namespace torch_npu::aicpu
