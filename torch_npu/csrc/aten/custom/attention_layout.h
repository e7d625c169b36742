#pragma once
// Where batch, positions, heads and channels are in the tensors of fused attention.

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>

namespace torch_npu::custom {

struct AttentionLayout {
  std::string name;  // in upper case
  // Dimensions; -1: there is none. Without `heads` the last dimension has all heads' channels, without `batch` the
  // positions are those of concatenated sequences.
  int64_t batch = -1, position = -1, heads = -1, channels = -1;

  bool is_packed() const { return batch < 0; }
  int64_t dims() const { return static_cast<int64_t>(name.size()); }
};

// BSH, SBH, BSND, BNSD or TND, in upper or lower case. Throws for others.
AttentionLayout attention_layout(std::string_view given);

// Throws unless the tensor has the layout's number of dimensions.
void check_layout(const char* role, const at::Tensor& tensor, const AttentionLayout& layout);

// Sizes of the query, the key and the value. Throws where query and key have no whole number of heads, or none.
struct AttentionSizes {
  c10::SymInt batch = 1, queries, keys, heads, key_heads, channels, value_channels;
};
AttentionSizes attention_sizes(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                               int64_t head_num, const AttentionLayout& layout);

}  // namespace torch_npu::custom
