#pragma once
// Planners for operators.txt. Rows are those of the last dimension, of floating-point types, computed in float32 or in
// float64. An index out of range is an error of the launch, and nothing is written.

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// The k largest of softmax(x) of each row with their indices, of equal ones the first; row_index[i, j] = j rows + i.
// The indices of rows that are finished are the number of experts.
Status gating_top_k_softmax(const aclTensor& x, const aclTensor* finished, int64_t k, const aclTensor& y,
                            const aclTensor& experts, const aclTensor& row_index, Plan* plan);

// p = softmax(x), or sigmoid(x) for norm 1. The groups of largest p + bias are kept, by their maximum or, for mode 1,
// by the sum of their two largest; of these the k largest, of equal ones the first. y is their p, for norm 1 divided by
// the sum and eps, times the factor.
struct GatingTopK {
  const aclTensor& x;
  const aclTensor* bias;
  int64_t k;
  int64_t kept_groups;
  int64_t groups;
  int64_t group_mode;
  int64_t renorm;  // 0
  int64_t norm;
  double factor;
  double eps;
  const aclTensor& y;
  const aclTensor& experts;
  const aclTensor& p;
};
Status gating_top_k(const GatingTopK& operands, Plan* plan);
struct GatingScale {
  int64_t renorm;
  int64_t norm;
  double factor;
  double eps;
};
Status gating_top_k_gradient(const aclTensor& p, const aclTensor& grad, const aclTensor& experts,
                             const GatingScale& scale, const aclTensor& dx, Plan* plan);

// For each expert how many elements of `sorted`, which do not fall, are up to its number.
Status expert_ends(const aclTensor& sorted, int64_t experts, const aclTensor& out, Plan* plan);

// Sorts the rows' experts, keeping the order of equal ones. expanded_x has the rows x[source % rows] in that order,
// where source is row_index of the element; expanded_row[source] is its position.
Status init_routing(const aclTensor& x, const aclTensor& row_index, const aclTensor& experts, int64_t active,
                    const aclTensor& expanded_x, const aclTensor& expanded_row, const aclTensor& expanded_expert,
                    Plan* plan);

// Rows in the order of their experts, of those in [start, end) of `range`, which is empty for all. With `drop_pad` each
// expert has `capacity` rows: those that are too many are left out, those that are too few are zero.
struct InitRoutingV3 {
  const aclTensor& x;        // [N, H]
  const aclTensor& experts;  // [N, K]; negative: none
  const aclTensor* scale;    // quant_mode -1: [N], is ordered as the rows; 0: [1]; 1: [1, H] or [end - start, H]
  const aclTensor* offset;   // quant_mode 0: [1]
  int64_t active;            // the result has the first rows, as many as this; 0, -1: all
  int64_t capacity;
  int64_t expert_count;
  int64_t drop_pad;     // 0, 1
  int64_t counts_type;  // 0: ends; 1: counts; 2: pairs of an expert and its count, of those that have one
  bool has_counts;
  int64_t quant_mode;  // -1: none; 0: round(x * scale + offset) as int8; 1: rows by their maximum as int8
  const aclIntArray* range;
  int64_t index_type;           // 0: where an element of `experts` is; 1: which one a row is of. -1: none
  const aclTensor& expanded_x;  // [M, H], or [E, capacity, H]
  const aclTensor& positions;   // [N K]
  const aclTensor& counts;      // [end - start], [E, 2] for pairs
  const aclTensor& expanded_scale;
};
Status init_routing_v3(const InitRoutingV3& operands, Plan* plan);

// out[i] = first[i] + second[i] + sum over j of scales[i, j] (rows[index] + bias[experts[i, j]]).
struct FinalizeRouting {
  const aclTensor& rows;
  const aclTensor& row_index;  // -1, in modes 1 and 3: no row
  const aclTensor* first;
  const aclTensor* second;
  const aclTensor* bias;
  const aclTensor* scales;   // [N, K]; null: 1, and K = 1
  const aclTensor* experts;  // [N, K], needed with a bias
  int64_t mode;              // 0, 1: the index of (i, j) is row_index[j N + i]; 2, 3: row_index[i K + j]
  const aclTensor& out;      // [N, H]
};
Status finalize_routing(const FinalizeRouting& operands, Plan* plan);

// The rows tokens[i] for each of their indices, in the order of these; positions[i K + j] is where element (i, j) is.
// Positions from `count` on have no row.
Status token_permute(const aclTensor& tokens, const aclTensor& indices, int64_t count, bool is_padded,
                     const aclTensor& permuted, const aclTensor& positions, Plan* plan);
// out[i] = sum over j of weights[i, j] rows[positions[i K + j]]; positions without a row add nothing. `top_k`: K; 0:
// that of the weights, 1 without them.
Status token_sums(const aclTensor& rows, const aclTensor& positions, const aclTensor* weights, int64_t top_k,
                  bool is_padded, const aclTensor& out, Plan* plan);
// Its gradients.
Status token_sums_gradient(const aclTensor& rows, const aclTensor& grad, const aclTensor& positions,
                           const aclTensor* weights, bool is_padded, const aclTensor& drows, const aclTensor* dweights,
                           Plan* plan);

}  // namespace softnpu
