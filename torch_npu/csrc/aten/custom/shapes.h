#pragma once
// The outputs of npu:: operators as a function of their arguments: entries of npu_native_functions.yaml name these
// functions in `out`. One function serves npu tensors, meta tensors and symbolic sizes.

#include <ATen/core/Tensor.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace torch_npu::shapes {

struct Output {
  c10::SymDimVector sizes;
  at::TensorOptions options;
  bool is_absent = false;  // an undefined tensor

  // Creates a dense tensor with these properties.
  at::Tensor make() const;
  // Resizes the caller's tensor. Throws if it has another type or device.
  void give(const at::Tensor& out) const;
};

// Those of an operator that gives a list.
struct OutputList {
  std::vector<Output> outputs;

  std::vector<at::Tensor> make() const;
};

// Like `tensor`.
Output like(const at::Tensor& tensor);

// Its sizes, in float32, or float64 if it is float64.
Output widened(const at::Tensor& tensor);

// The sizes of `tensor` in the type of `other`.
Output sized(const at::Tensor& tensor, const at::Tensor& other);

// `image`, [..., 1 or 3, height, width], with three channels. Throws for other shapes.
Output with_rgb_channels(const at::Tensor& image);

// `tensor` with half the size in `dim`. Throws if that is odd.
Output half_size(const at::Tensor& tensor, int64_t dim);

// One number per row of `tensor`: the last dimensions, which must be those of `gamma`, become 1; in the type of wide().
// Throws if they differ.
Output rows(const at::Tensor& tensor, const at::Tensor& gamma);

// `tensor` with its dimensions in the order `perm`. Throws if that is no permutation.
Output permuted(const at::Tensor& tensor, at::IntArrayRef perm);

// A byte for eight elements of `size`, padded to 16 bytes.
Output mask_bits(const at::Tensor& tensor, at::IntArrayRef size);
// The same for the tensor's own elements.
Output own_mask_bits(const at::Tensor& tensor);

// Like the tensor, if it is given.
Output like_given(const std::optional<at::Tensor>& tensor);

// Fused attention, in aten/custom/attention_shapes.cpp. The result: the query's sizes with the value's channels. Throws
// for a layout that there is not, and for tensors that do not have it.
Output attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, int64_t head_num,
                 std::string_view input_layout);
// Eight equal float32 for each head and query: [batch, heads, queries, 8], or [queries, heads, 8] of TND.
Output attention_rows(const at::Tensor& query, int64_t head_num, std::string_view input_layout);
// No element, in the tensor's type; in float32.
Output empty(const at::Tensor& tensor);
// Like the tensor; no element in float32 if it is not given.
Output like_or_empty(const std::optional<at::Tensor>& tensor, const at::Tensor& other);
// The seed of dropout as a graph knows it. Throws where the generator draws one in each run.
int64_t dropout_seed(double keep_prob, int64_t seed);
// A number as it is given.
int64_t number(int64_t value);
// The number of scores of all sequences. A graph is for this number.
int64_t dropout_bits(const at::Tensor& query, const at::Tensor& key, int64_t head_num, std::string_view input_layout,
                     at::OptionalIntArrayRef actual_seq_qlen, at::OptionalIntArrayRef actual_seq_kvlen);

// Attention without gradients, in aten/custom/infer_shapes.cpp: the results, [B, N, S, 1] or [T, N, 1] float32 if they
// are asked for, and a tensor without elements. Throws for a layout that there is not, and for tensors that do not have
// it.
Output infer_attention(const at::Tensor& query, const at::Tensor& value, std::string_view input_layout,
                       const std::optional<at::Tensor>& block_table, int64_t heads, int64_t key_heads);
Output infer_attention(const at::Tensor& query, const at::Tensor& value, std::string_view input_layout, int64_t heads,
                       int64_t key_heads);
Output infer_lse(const at::Tensor& query, std::string_view input_layout, int64_t heads, bool is_asked);
Output no_workspace(const at::Tensor& tensor);

// Sums and losses, in aten/custom/sum_shapes.cpp. The sum of two tensors of one size: their type, or float32 if they
// have two. Throws for two sizes.
Output sum_of(const at::Tensor& a, const at::Tensor& b);
// One number per row, as rows(): the dimensions of gamma become one of 1.
Output row_numbers(const at::Tensor& tensor, const at::Tensor& gamma);
// What three tensors broadcast to, in the type that they promote to.
Output broadcast(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c);
// The loss of rows [N, C]: [N] without a reduction, else [1]. Throws for other reductions and shapes.
Output loss_of_rows(const at::Tensor& input, const at::Tensor& target, std::string_view reduction);
// What belongs to zloss. Throws if it is asked for.
Output no_zloss(const at::Tensor& input, double lse_square_scale_for_zloss, bool return_zloss);

// Quantization, in aten/custom/quant_shapes.cpp. Numbers of dtypes are PyTorch's, or those of torch_npu from 256 on.
// Throws for types that are not computed.
Output quantized(const at::Tensor& input, int64_t dtype, bool div_mode);
Output dynamic_quantized(const at::Tensor& input, std::optional<int64_t> dst_type, std::string_view quant_mode,
                         double dst_type_max);
// A float32 for each row of the last dimension.
Output row_scales(const at::Tensor& input);
// int8 like x, a norm over the dimensions of gamma. Throws if its last dimensions differ, and for other types.
Output normed_int8(const at::Tensor& x, const at::Tensor& gamma, std::optional<int64_t> dst_type);
// The same of x1 + x2.
Output normed_int8(const at::Tensor& x1, const at::Tensor& x2, const at::Tensor& gamma, int64_t axis,
                   std::optional<int64_t> dst_type);
// Which of two quantized results are computed: those of the mask, else the first one, and both with two smooth scales.
std::array<bool, 2> asked_branches(const std::optional<at::Tensor>& smooth1, const std::optional<at::Tensor>& smooth2,
                                   const std::optional<std::array<bool, 2>>& output_mask);
// The results and their scales, one element if they are not computed.
Output first_branch(const at::Tensor& x1, const at::Tensor& x2, const at::Tensor& gamma,
                    const std::optional<at::Tensor>& smooth1, const std::optional<at::Tensor>& smooth2,
                    const std::optional<std::array<bool, 2>>& output_mask, std::optional<int64_t> y_dtype);
Output second_branch(const at::Tensor& x1, const std::optional<at::Tensor>& smooth1,
                     const std::optional<at::Tensor>& smooth2, const std::optional<std::array<bool, 2>>& output_mask);
Output first_scales(const at::Tensor& x1, const std::optional<at::Tensor>& smooth1,
                    const std::optional<at::Tensor>& smooth2, const std::optional<std::array<bool, 2>>& output_mask);
Output second_scales(const at::Tensor& x1, const std::optional<at::Tensor>& smooth1,
                     const std::optional<at::Tensor>& smooth2, const std::optional<std::array<bool, 2>>& output_mask);
Output dequantized(const at::Tensor& x, std::optional<int64_t> dst_dtype, std::optional<int64_t> src_dtype);
// int64 of the longer one.
Output packed_parameters(const at::Tensor& scale, const std::optional<at::Tensor>& offset,
                         std::optional<int64_t> round_mode);
// The product of stacks of matrices whose batches broadcast: int8, or `output_dtype`.
Output quantized_product(const at::Tensor& x1, const at::Tensor& x2, std::optional<int64_t> output_dtype,
                         at::OptionalIntArrayRef group_sizes);
// In the type of x.
Output weight_product(const at::Tensor& x, const at::Tensor& weight);

// Mixture of experts, in aten/custom/expert_shapes.cpp. k elements for each row of x: in its type, in int32.
Output expert_values(const at::Tensor& x, int64_t k);
Output expert_numbers(const at::Tensor& x, int64_t k);
// expert_values() of [N, E]. Throws where experts are looked up by the rows' ids.
Output expert_choice(const at::Tensor& x, int64_t k, const std::optional<at::Tensor>& input_ids,
                     const std::optional<at::Tensor>& tid2eid);
// `count` numbers like those of the tensor.
Output numbers_like(const at::Tensor& tensor, int64_t count);
// All elements in one dimension.
Output flat_like(const at::Tensor& tensor);
// The rows of x for the experts of the first `active` rows; of [N, H] and [N, K].
Output expanded_rows(const at::Tensor& x, const at::Tensor& experts, int64_t active);
// npu_moe_init_routing_v2: the rows, by element or by expert and capacity, and their scales; the experts' counts.
// Throws for types and modes that are not computed.
Output routed_rows(const at::Tensor& x, const at::Tensor& experts, int64_t active, int64_t capacity, int64_t count,
                   int64_t drop_pad_mode, int64_t quant_mode, std::optional<int64_t> x_dtype);
Output routed_scales(const at::Tensor& x, const at::Tensor& experts, int64_t active, int64_t capacity, int64_t count,
                     int64_t drop_pad_mode, int64_t quant_mode, std::optional<int64_t> x_dtype);
Output routed_counts(const at::Tensor& x, int64_t count, int64_t type, at::IntArrayRef range);
// One row for each K of `rows`, whose number scales [N, K] has, or 1.
Output finalized_rows(const at::Tensor& rows, const at::Tensor& row_index, const std::optional<at::Tensor>& scales);
// Copies of the rows of [N, H], one for each of `indices`, [N] or [N, K]; and where they are, in int32.
Output permuted_tokens(const at::Tensor& tokens, const at::Tensor& indices, std::optional<int64_t> count,
                       bool padded_mode);
Output permuted_positions(const at::Tensor& indices);
// The sums of the copies, as many as `probs` [N, K] has columns, or 1.
Output unpermuted_tokens(const at::Tensor& rows, const at::Tensor& positions, const std::optional<at::Tensor>& probs,
                         bool padded_mode);

// Products of groups, in aten/custom/grouped_shapes.cpp: of all groups in one tensor for split_item 2 and 3. Reads a
// group_list that decides sizes; throws where it cannot.
OutputList grouped_products(at::TensorList x, at::TensorList weight, const std::optional<at::Tensor>& group_list,
                            std::optional<int64_t> split_item, std::optional<int64_t> group_type,
                            std::optional<int64_t> group_list_type, std::optional<int64_t> output_dtype);
OutputList grouped_products(at::TensorList x, at::TensorList weight, at::OptionalIntArrayRef group_list,
                            std::optional<int64_t> split_item, std::optional<at::ScalarType> output_dtype);

}  // namespace torch_npu::shapes
