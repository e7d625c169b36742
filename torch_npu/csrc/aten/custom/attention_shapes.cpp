// Layouts and outputs of fused attention.

#include <algorithm>
#include <cctype>

#include "aten/custom/attention_layout.h"
#include "aten/custom/shapes.h"

namespace torch_npu::custom {

AttentionLayout attention_layout(std::string_view given) {
  AttentionLayout layout;
  for (const char c : given) layout.name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const std::string& name = layout.name;
  TORCH_CHECK_VALUE(name == "BSH" || name == "SBH" || name == "BSND" || name == "BNSD" || name == "TND",
                    "npu_fusion_attention: input_layout is '", given, "': BSH, SBH, BSND, BNSD and TND are taken");
  const auto find = [&name](char letter) {
    const std::size_t at = name.find(letter);
    return at == std::string::npos ? -1 : static_cast<int64_t>(at);
  };
  layout.batch = find('B');
  layout.position = find(layout.is_packed() ? 'T' : 'S');
  layout.heads = find('N');
  layout.channels = layout.dims() - 1;
  return layout;
}

void check_layout(const char* role, const at::Tensor& tensor, const AttentionLayout& layout) {
  TORCH_CHECK(tensor.dim() == layout.dims(), "npu_fusion_attention: ", role, " is of size ", tensor.sym_sizes(),
              ": the layout ", layout.name, " has ", layout.dims(), " dimensions");
}

AttentionSizes attention_sizes(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                               int64_t head_num, const AttentionLayout& layout) {
  TORCH_CHECK(head_num > 0, "npu_fusion_attention: head_num is ", head_num,
              ": it is the number of query's heads, 1 or more");
  check_layout("query", query, layout);
  check_layout("key", key, layout);
  check_layout("value", value, layout);
  AttentionSizes sizes;
  if (!layout.is_packed()) sizes.batch = query.sym_size(layout.batch);
  sizes.queries = query.sym_size(layout.position);
  sizes.keys = key.sym_size(layout.position);
  sizes.heads = head_num;
  const c10::SymInt last = query.sym_size(layout.channels);
  if (layout.heads >= 0) {
    TORCH_CHECK(query.sym_size(layout.heads) == head_num, "npu_fusion_attention: head_num is ", head_num,
                " for a query of size ", query.sym_sizes(), " with ", query.sym_size(layout.heads), " heads");
    sizes.key_heads = key.sym_size(layout.heads);
    sizes.channels = last;
    sizes.value_channels = value.sym_size(layout.channels);
  } else {
    TORCH_CHECK(last % head_num == 0 && last > 0, "npu_fusion_attention: head_num is ", head_num,
                ", by which the last dimension of query, of size ", query.sym_sizes(), ", is not divided");
    sizes.channels = last / head_num;
    TORCH_CHECK(key.sym_size(layout.channels) % sizes.channels == 0 && key.sym_size(layout.channels) > 0,
                "npu_fusion_attention: key is of size ", key.sym_sizes(), ": the last dimension is a multiple of ",
                sizes.channels, ", the channels of a head of query");
    sizes.key_heads = key.sym_size(layout.channels) / sizes.channels;
    TORCH_CHECK(value.sym_size(layout.channels) % sizes.key_heads == 0, "npu_fusion_attention: value is of size ",
                value.sym_sizes(), ": the last dimension is a multiple of ", sizes.key_heads, ", the heads of key");
    sizes.value_channels = value.sym_size(layout.channels) / sizes.key_heads;
  }
  return sizes;
}

}  // namespace torch_npu::custom

namespace torch_npu::shapes {

using custom::AttentionLayout;
using custom::AttentionSizes;

Output own_mask_bits(const at::Tensor& tensor) {
  constexpr int64_t kBits = 8, kMultiple = 128;
  return {{(tensor.sym_numel() + kMultiple - 1) / kMultiple * kMultiple / kBits}, tensor.options().dtype(at::kByte)};
}

Output mask_bits(const at::Tensor& tensor, at::IntArrayRef size) {
  constexpr int64_t kBits = 8, kMultiple = 128;
  int64_t elements = 1;
  for (const int64_t n : size) {
    TORCH_CHECK(n >= 0, "_npu_dropout_gen_mask: size is ", size, ": sizes are 0 or more");
    elements *= n;
  }
  return {{(elements + kMultiple - 1) / kMultiple * kMultiple / kBits}, tensor.options().dtype(at::kByte)};
}

Output like_given(const std::optional<at::Tensor>& tensor) {
  if (tensor.has_value() && tensor->defined()) return like(*tensor);
  return {{}, {}, /*is_absent=*/true};
}

Output attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, int64_t head_num,
                 std::string_view input_layout) {
  const AttentionLayout layout = custom::attention_layout(input_layout);
  const AttentionSizes sizes = custom::attention_sizes(query, key, value, head_num, layout);
  Output output = like(query);
  output.sizes.back() = layout.heads >= 0 ? sizes.value_channels : sizes.value_channels * head_num;
  return output;
}

Output attention_rows(const at::Tensor& query, int64_t head_num, std::string_view input_layout) {
  constexpr int64_t kCopies = 8;
  const AttentionLayout layout = custom::attention_layout(input_layout);
  custom::check_layout("query", query, layout);
  const c10::SymInt queries = query.sym_size(layout.position);
  const at::TensorOptions options = query.options().dtype(at::kFloat);
  if (layout.is_packed()) return {{queries, head_num, kCopies}, options};
  return {{query.sym_size(layout.batch), head_num, queries, kCopies}, options};
}

Output empty(const at::Tensor& tensor) { return {{0}, tensor.options()}; }

Output like_or_empty(const std::optional<at::Tensor>& tensor, const at::Tensor& other) {
  if (tensor.has_value() && tensor->defined()) return like(*tensor);
  return {{0}, other.options().dtype(at::kFloat)};
}

int64_t dropout_seed(double keep_prob, int64_t seed) {
  TORCH_CHECK_NOT_IMPLEMENTED(keep_prob == 1 || seed != 0, "npu_fusion_attention: keep_prob is ", keep_prob,
                              " and seed 0, so that each run draws a seed: a graph or a meta tensor has none. Give a "
                              "seed, or leave the call out of the graph");
  return seed;
}

int64_t number(int64_t value) { return value; }

int64_t dropout_bits(const at::Tensor& query, const at::Tensor& key, int64_t head_num, std::string_view input_layout,
                     at::OptionalIntArrayRef actual_seq_qlen, at::OptionalIntArrayRef actual_seq_kvlen) {
  const AttentionLayout layout = custom::attention_layout(input_layout);
  if (layout.is_packed()) {
    const auto ends = actual_seq_qlen.value_or(at::IntArrayRef());
    const auto key_ends = actual_seq_kvlen.value_or(at::IntArrayRef());
    int64_t scores = 0;
    for (std::size_t i = 0; i < std::min(ends.size(), key_ends.size()); ++i) {
      if (i > 0 && ends[i] == 0 && key_ends[i] == 0) break;  // it does not take part
      scores += i == 0 ? ends[0] * key_ends[0] : (ends[i] - ends[i - 1]) * (key_ends[i] - key_ends[i - 1]);
    }
    return head_num * scores;
  }
  const c10::SymInt scores =
      query.sym_size(layout.batch) * head_num * query.sym_size(layout.position) * key.sym_size(layout.position);
  return scores.guard_int(__FILE__, __LINE__);
}

}  // namespace torch_npu::shapes
