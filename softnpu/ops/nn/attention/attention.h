#pragma once
// Planners for operators.txt. Scores are computed in float32 for a block of queries and a block of keys at a time, and
// the score matrix is never stored (Dao, Fu, Ermon, Rudra, Re: FlashAttention, NeurIPS 2022).

#include <initializer_list>

#include "ops/nn/attention/problem.h"

namespace softnpu {

// out: the query's sizes, with the value's channels. softmax_max, softmax_sum: float32, for each query and head 8 equal
// values.
struct AttentionResults {
  const aclTensor* softmax_max = nullptr;
  const aclTensor* softmax_sum = nullptr;
  const aclTensor* log_sum = nullptr;  // float32: max + log(sum), one for each query and head
  const aclTensor& out;
  const char* out_layout = nullptr;  // null: the query's
};
Status attention(const AttentionArguments& arguments, const AttentionResults& results, Plan* plan);

// The same without gradients, and what its functions have beside AttentionArguments. `layout` may be two names,
// BNSD_BSND: the result has the order of the second. query_ends and key_ends are lengths unless sequences are
// concatenated, and those of keys are always lengths with a block_table. Values after a sequence's end are not written.
// A mask may have more columns than there are keys. One query of each sequence sees all that the mask has, whatever the
// mode is.
struct InferArguments {
  const aclTensorList& key;  // of one tensor
  const aclTensorList& value;
  const aclTensor* block_table = nullptr;
  int64_t page = 0;
  const aclTensor* query_rope = nullptr;
  const aclTensor* key_rope = nullptr;
  std::initializer_list<const aclTensor*> absent = {};  // null or empty: quantised keys, paddings, shared prefixes
};
Status infer_attention(const AttentionArguments& arguments, const InferArguments& others, const aclTensor& out,
                       const aclTensor* log_sum, Plan* plan);
// `arguments` has the key and the value.
Status infer_attention(AttentionArguments arguments, std::initializer_list<const aclTensor*> absent,
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
  const aclTensor* sink = nullptr;
};
// The gradient of a bias that is broadcast is the sum over the scores that read an element.
Status attention_grad(const AttentionArguments& arguments, const AttentionGradients& gradients, Plan* plan);

}  // namespace softnpu
