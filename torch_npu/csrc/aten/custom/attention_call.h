#pragma once
// Checks a call of fused attention. Errors name the parameter, its value and what is taken.

#include <ATen/core/Tensor.h>
#include <c10/util/OptionalArrayRef.h>

#include <optional>
#include <string_view>

#include "aten/custom/attention_layout.h"
#include "aten/custom/shapes.h"

namespace torch_npu::custom {

// As the operator gets them.
struct AttentionArguments {
  const char* name;
  const at::Tensor& query;
  const at::Tensor& key;
  const at::Tensor& value;
  int64_t head_num;
  std::string_view input_layout;
  const std::optional<at::Tensor>& pse;
  const std::optional<at::Tensor>& padding_mask;
  const std::optional<at::Tensor>& atten_mask;
  const std::optional<at::Tensor>& sink;
  double keep_prob;
  int64_t inner_precise;
  at::OptionalIntArrayRef prefix;
  at::OptionalIntArrayRef actual_seq_qlen;
  at::OptionalIntArrayRef actual_seq_kvlen;
  int64_t sparse_mode;
  std::string_view softmax_layout;
};

// As aclnn gets them; optional tensors may be undefined.
struct AttentionCall {
  const at::Tensor& query;
  const at::Tensor& key;
  const at::Tensor& value;
  AttentionLayout layout;
  int64_t head_num;
  at::Tensor pse, atten_mask, sink;
  at::IntArrayRef prefix, query_ends, key_ends;
  int64_t sparse_mode;
  bool rows_as_input;  // numbers of rows are [queries, heads, 8] of TND, else sequence by sequence
  bool has_rest;       // positions behind the last sequence
  int64_t scores;      // of all sequences: the bits of a dropout mask

  bool has_sink() const { return sink.defined(); }
};

AttentionCall attention_call(const AttentionArguments& arguments);

// Throws unless the mask is on query's device and has a bit for each score.
void check_dropout_mask(const at::Tensor& mask, const at::Tensor& query, int64_t scores);

// Throws unless the tensor is there, on query's device, with these properties.
void check_like(const char* role, const std::optional<at::Tensor>& tensor, const at::Tensor& query,
                const shapes::Output& wanted);

}  // namespace torch_npu::custom
