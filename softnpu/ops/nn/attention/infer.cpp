#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/given.h"
#include "ops/nn/attention/attention.h"

namespace softnpu {
namespace {

// The mask of a call: of a row for each sequence, or with more columns than keys.
struct FittedMask {
  aclTensor tensor;

  Status fit(const aclTensor& mask, const AttentionArguments& arguments) {
    tensor = mask;
    const std::string_view layout = arguments.layout;
    const bool is_packed = layout.find('T') != std::string_view::npos;
    if (tensor.dims.size() == 2 && !is_packed) {
      const auto queries = static_cast<size_t>(layout.find('S'));
      const size_t batch = layout.find('B');
      const aclTensor& query = arguments.query;
      if (query.dims.size() == layout.size() && batch != std::string_view::npos && query.dims[queries] == 1 &&
          tensor.dims[0] == query.dims[batch]) {
        tensor.dims = {tensor.dims[0], 1, 1, tensor.dims[1]};
        tensor.strides = {tensor.strides[0], 0, 0, tensor.strides[1]};
      }
    }
    return Status::ok();
  }

  // Leaves out columns behind the keys.
  void narrow(int64_t keys) {
    if (!tensor.dims.empty() && keys > 0 && tensor.dims.back() > keys) tensor.dims.back() = keys;
  }
};

// The number of keys that a mask is for; 0 where sequences differ.
int64_t keys_of(const AttentionArguments& arguments, std::string_view layout) {
  if (arguments.block_table != nullptr && arguments.block_table->dims.size() == 2) {
    const Checked keys = checked(arguments.block_table->dims[1]) * arguments.page;
    return keys.value();
  }
  const size_t at = layout.find('S');
  if (at == std::string_view::npos || arguments.key.dims.size() != layout.size()) return 0;
  return arguments.key.dims[at];
}

}  // namespace

Status infer_attention(AttentionArguments arguments, std::initializer_list<const aclTensor*> absent,
                       const aclTensor& out, const aclTensor* log_sum, Plan* plan) {
  size_t position = 0;
  for (const aclTensor* tensor : absent) {
    ++position;
    if (!is_given(tensor)) continue;
    return {ACLNN_ERR_PARAM_INVALID,
            text("optional argument ", position,
                 " behind the lengths is given: scales of quantisation, paddings and shared prefixes are not taken")};
  }
  if (arguments.layout == nullptr) return {ACLNN_ERR_PARAM_NULLPTR, "the layout is null"};
  const std::string_view named = arguments.layout;
  const size_t cut = named.find('_');
  const std::string layout(named.substr(0, cut));
  const std::string out_layout(cut == std::string_view::npos ? named : named.substr(cut + 1));
  arguments.layout = layout.c_str();
  const bool is_packed = layout.find('T') != std::string::npos;
  if (is_packed && (arguments.query_ends == nullptr || arguments.query_ends->empty())) {
    return {ACLNN_ERR_PARAM_INVALID, text("actualSeqLengths is not given, which the layout ", layout, " needs")};
  }
  if (!is_packed) arguments.query_lengths = std::exchange(arguments.query_ends, nullptr);
  if (!is_packed || arguments.block_table != nullptr) {
    arguments.key_lengths = std::exchange(arguments.key_ends, nullptr);
  }
  if (arguments.sparse_mode < 0 || arguments.sparse_mode > 4) {
    return {ACLNN_ERR_PARAM_INVALID, text("sparseMode is ", arguments.sparse_mode, ": 0 to 4 are taken")};
  }
  const size_t at = layout.find('S');
  if (at != std::string::npos && arguments.query.dims.size() == layout.size() && arguments.query.dims[at] == 1 &&
      !is_given(arguments.query_rope)) {
    arguments.sparse_mode = arguments.sparse_mode < 2 ? 1 : 3;  // the one query is the last position
  }
  FittedMask mask;
  if (is_given(arguments.mask)) {
    SOFTNPU_RETURN_IF_ERROR(mask.fit(*arguments.mask, arguments));
    mask.narrow(keys_of(arguments, layout));
    arguments.mask = &mask.tensor;
  }
  return attention(arguments, {.log_sum = log_sum, .out = out, .out_layout = out_layout.c_str()}, plan);
}

Status infer_attention(const AttentionArguments& arguments, const InferArguments& others, const aclTensor& out,
                       const aclTensor* log_sum, Plan* plan) {
  const aclTensorList& key = others.key;
  const aclTensorList& value = others.value;
  if (key.size() != 1 || value.size() != 1) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("key has ", key.size(), " tensors and value ", value.size(), "; one of each is taken")};
  }
  SOFTNPU_RETURN_IF_ERROR(not_null(key[0], "key[0]"));
  SOFTNPU_RETURN_IF_ERROR(not_null(value[0], "value[0]"));
  const AttentionArguments own{.query = arguments.query,
                               .key = *key[0],
                               .value = *value[0],
                               .bias = arguments.bias,
                               .mask = arguments.mask,
                               .sink = arguments.sink,
                               .query_rope = others.query_rope,
                               .key_rope = others.key_rope,
                               .block_table = is_given(others.block_table) ? others.block_table : nullptr,
                               .query_ends = arguments.query_ends,
                               .key_ends = arguments.key_ends,
                               .scale = arguments.scale,
                               .pre_tokens = arguments.pre_tokens,
                               .next_tokens = arguments.next_tokens,
                               .heads = arguments.heads,
                               .key_heads = arguments.key_heads,
                               .layout = arguments.layout,
                               .page = others.page,
                               .sparse_mode = arguments.sparse_mode,
                               .pse_type = arguments.pse_type};
  return infer_attention(own, others.absent, out, log_sum, plan);
}

}  // namespace softnpu
