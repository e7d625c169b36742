#include <string_view>

#include "base/text.h"
#include "ops/nn/attention/attention.h"

namespace softnpu {

Status infer_attention(AttentionArguments arguments, std::initializer_list<const aclTensor*> absent,
                       const aclTensor& out, const aclTensor* log_sum, Plan* plan) {
  size_t place = 0;
  for (const aclTensor* tensor : absent) {
    ++place;
    if (tensor == nullptr || element_count(*tensor) == 0) continue;
    return {ACLNN_ERR_PARAM_INVALID,
            text("optional argument ", place,
                 " behind the lengths is given: scales of quantisation, tables of pages, paddings, ",
                 "shared prefixes and separate rope are not taken")};
  }
  const char* out_layout = nullptr;
  if (arguments.layout != nullptr && std::string_view(arguments.layout) == "BNSD_BSND") {
    arguments.layout = "BNSD";
    out_layout = "BSND";
  }
  if (arguments.layout == nullptr || std::string_view(arguments.layout) != "TND") {
    arguments.query_lengths = std::exchange(arguments.query_ends, nullptr);
    arguments.key_lengths = std::exchange(arguments.key_ends, nullptr);
  }
  return attention(arguments, {.log_sum = log_sum, .out = out, .out_layout = out_layout}, plan);
}

Status infer_attention(const aclTensor& query, const aclTensorList& key, const aclTensorList& value,
                       const AttentionArguments& arguments, std::initializer_list<const aclTensor*> absent,
                       const aclTensor& out, const aclTensor* log_sum, Plan* plan) {
  if (key.size() != 1 || value.size() != 1) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("key has ", key.size(), " tensors and value ", value.size(), "; one of each is taken")};
  }
  SOFTNPU_RETURN_IF_ERROR(not_null(key[0], "key[0]"));
  SOFTNPU_RETURN_IF_ERROR(not_null(value[0], "value[0]"));
  const AttentionArguments own{.query = query,
                               .key = *key[0],
                               .value = *value[0],
                               .bias = arguments.bias,
                               .mask = arguments.mask,
                               .query_ends = arguments.query_ends,
                               .key_ends = arguments.key_ends,
                               .scale = arguments.scale,
                               .pre_tokens = arguments.pre_tokens,
                               .next_tokens = arguments.next_tokens,
                               .heads = arguments.heads,
                               .key_heads = arguments.key_heads,
                               .layout = arguments.layout,
                               .sparse_mode = arguments.sparse_mode,
                               .pse_type = arguments.pse_type};
  return infer_attention(own, absent, out, log_sum, plan);
}

}  // namespace softnpu
