// Operators that give new tensors where their aclnn functions write in place.

#include <ATen/core/Tensor.h>
#include <aclnnop/aclnn_apply_rotary_pos_emb_v2.h>
#include <aclnnop/aclnn_scatter_nd_update.h>

#include <array>
#include <utility>

#include "aten/custom/inputs.h"
#include "core/aclnn.h"
#include "core/device.h"
#include "custom_kernels.h"

namespace torch_npu::custom {
namespace {

// The number of a layout of query and key.
int64_t rotary_layout(std::string_view layout) {
  constexpr std::array<std::pair<std::string_view, int64_t>, 5> kLayouts = {
      {{"BSND", 1}, {"BSH", 1}, {"SBND", 2}, {"BNSD", 3}, {"TND", 4}}};
  for (const auto& [name, number] : kLayouts) {
    if (name == layout) return number;
  }
  TORCH_CHECK(false, "npu_apply_rotary_pos_emb: layout is '", layout, "': BSND, BSH, SBND, BNSD and TND are taken");
}

}  // namespace

at::Tensor npu_scatter_nd_update(const at::Tensor& self, const at::Tensor& indices, const at::Tensor& updates) {
  static const AclnnOp<decltype(aclnnScatterNdUpdateGetWorkspaceSize)> function("aclnnScatterNdUpdate");
  Inputs inputs("npu_scatter_nd_update", "aclnnScatterNdUpdate", function.available());
  inputs.take("input", self, kAllDtypes);
  inputs.take("indices", indices, dtypes({at::kInt, at::kLong}));
  inputs.take("updates", updates, kAllDtypes);
  bind_device(inputs.device());
  at::Tensor out = self.clone(at::MemoryFormat::Contiguous);
  if (updates.numel() > 0) function(inputs.device(), out, indices, updates);
  return out;
}

std::tuple<at::Tensor, at::Tensor> npu_apply_rotary_pos_emb(const at::Tensor& query, const at::Tensor& key,
                                                            const at::Tensor& cos, const at::Tensor& sin,
                                                            c10::string_view layout, c10::string_view rotary_mode) {
  static const AclnnOp<decltype(aclnnApplyRotaryPosEmbV2GetWorkspaceSize)> function("aclnnApplyRotaryPosEmbV2");
  constexpr aclnn_check::Dtypes kFloating = dtypes({at::kHalf, at::kBFloat16, at::kFloat, at::kDouble});
  Inputs inputs("npu_apply_rotary_pos_emb", "aclnnApplyRotaryPosEmbV2", function.available());
  inputs.take("query", query, kFloating);
  inputs.take("key", key, kFloating);
  inputs.take("cos", cos, kFloating);
  inputs.take("sin", sin, kFloating);
  const int64_t number = rotary_layout(layout);
  bind_device(inputs.device());
  at::Tensor queries = query.clone(at::MemoryFormat::Contiguous);
  at::Tensor keys = key.clone(at::MemoryFormat::Contiguous);
  if (queries.numel() + keys.numel() > 0) function(inputs.device(), queries, keys, cos, sin, number, rotary_mode);
  return {queries, keys};
}

}  // namespace torch_npu::custom
