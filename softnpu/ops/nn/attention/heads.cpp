#include "ops/nn/attention/heads.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/tensor_memory.h"

namespace softnpu {

Status read_heads(const aclTensor& tensor, const char* role, std::string_view layout, int64_t heads, Heads* out) {
  const auto bad = [&](const std::string& why) -> Status {
    return {ACLNN_ERR_PARAM_INVALID, text(role, " is ", describe(tensor), why)};
  };
  if (tensor.dtype != ACL_FLOAT && tensor.dtype != ACL_FLOAT16 && tensor.dtype != ACL_BF16) {
    return bad("; float32, float16 and bfloat16 are taken");
  }
  constexpr std::array<std::string_view, 8> kLayouts = {"BSH", "SBH", "BSND", "BNSD", "TND", "NTD", "NBSD", "NSD"};
  if (std::ranges::find(kLayouts, layout) == kLayouts.end()) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("the layout '", layout, "' is not BSH, SBH, BSND, BNSD, TND, NTD, NBSD or NSD")};
  }
  if (tensor.dims.size() != layout.size()) return bad(text(", which is not of the layout ", layout));
  const auto size = static_cast<int64_t>(aclDataTypeSize(tensor.dtype));
  out->batch = out->heads = out->length = out->channels = 1;
  for (size_t i = 0; i < layout.size(); ++i) {
    const int64_t dim = tensor.dims[i];
    const int64_t stride = tensor.strides[i] * size;
    switch (layout[i]) {
      case 'B': out->batch = dim, out->batch_stride = stride; break;
      case 'N': out->heads = dim, out->head_stride = stride; break;
      case 'D': out->channels = dim, out->channel_stride = stride; break;
      case 'H':
        if (heads <= 0 || dim % heads != 0) return bad(text(", whose ", dim, " channels are not of ", heads, " heads"));
        out->heads = heads;
        out->channels = dim / heads;
        out->channel_stride = stride;
        out->head_stride = out->channels * stride;
        break;
      default: out->length = dim, out->position_stride = stride; break;
    }
  }
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
  out->data = static_cast<char*>(data);
  out->dtype = tensor.dtype;
  out->reader = ElementReader(tensor.dtype, ACL_FLOAT);
  out->writer = ElementWriter(ACL_FLOAT, tensor.dtype);
  return Status::ok();
}

}  // namespace softnpu
