#pragma once
// What operators.txt plans with. Scores are computed a block of queries by a block of keys at a time, in float32, and
// never stored whole (Dao, Fu, Ermon, Rudra, Re: FlashAttention, NeurIPS 2022).

#include <initializer_list>

#include "ops/attention/problem.h"

namespace softnpu {

// out: as the query, with the value's channels. softmax_max, softmax_sum: float32, of each query and head, 8 equal
// ones.
struct AttentionResults {
  const aclTensor* softmax_max = nullptr;
  const aclTensor* softmax_sum = nullptr;
  const aclTensor* log_sum = nullptr;  // float32: max + log(sum), one for each query and head
  const aclTensor& out;
  const char* out_layout = nullptr;  // null: the query's
};
Status attention(const AttentionArguments& arguments, const AttentionResults& results, Plan* plan);

// The same without gradients. The layout may be BNSD_BSND: the result's order differs. query_ends and key_ends are
// lengths unless the layout is TND; one length may stand for all. What lies beyond a sequence's end is not written.
// `absent` tensors have to be null or empty: quantised and paged keys are not taken.
Status infer_attention(AttentionArguments arguments, std::initializer_list<const aclTensor*> absent,
                       const aclTensor& out, const aclTensor* log_sum, Plan* plan);
// Lists of one tensor stand for the key and the value.
Status infer_attention(const aclTensor& query, const aclTensorList& key, const aclTensorList& value,
                       const AttentionArguments& arguments, std::initializer_list<const aclTensor*> absent,
                       const aclTensor& out, const aclTensor* log_sum, Plan* plan);

struct AttentionGradients {
  const aclTensor& out_gradient;
  const aclTensor* softmax_max;
  const aclTensor* softmax_sum;
  const aclTensor* out;
  const aclTensor& query;
  const aclTensor& key;
  const aclTensor& value;
  const aclTensor* bias = nullptr;
};
Status attention_grad(const AttentionArguments& arguments, const AttentionGradients& gradients, Plan* plan);

}  // namespace softnpu
