#pragma once
// An attention problem: softmax(scale q k' + bias, masked) v, with everything that affects individual scores.

#include <algorithm>
#include <string_view>
#include <vector>

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"
#include "ops/nn/attention/heads.h"

namespace softnpu {

// A tensor broadcast over batch, head, query and key. Strides in bytes; null data if there is no tensor.
struct ScoreOperand {
  char* data = nullptr;
  int64_t strides[4] = {};
  ElementReader reader;
  bool is_full = false;  // nothing is broadcast
  // Of a compressed bias, which depends on the distance of query and key: the rows of this many queries are absent, and
  // are the first row there is, shifted.
  int64_t absent_rows = 0;

  char* at(int64_t b, int64_t head, int64_t query) const {
    const int64_t row = query - absent_rows;
    return data + b * strides[0] + head * strides[1] + std::max<int64_t>(row, 0) * strides[2] +
           shift(query) * strides[3];
  }
  int64_t shift(int64_t query) const { return std::max<int64_t>(absent_rows - query, 0); }
};

// A query sees the keys in [first, last), and those below `prefix`.
struct Span {
  int64_t first;
  int64_t last;
  int64_t prefix;
};

// One sequence of the batch.
struct Sequence {
  int64_t query_start = 0, query_length = 0, key_start = 0, key_length = 0;
  int64_t drop_start = 0;  // of its bits in the drop mask
  int64_t prefix = 0;
  int64_t sparse_mode = 0;  // 0 to 6, as of the problem
};

struct AttentionProblem {
  Heads query, key, value;
  std::vector<Sequence> sequences;
  bool is_packed = false;  // TND: sequences are concatenated
  ScoreOperand mask;       // true: masked
  ScoreOperand bias;
  bool scales_bias = true;  // scale (q k' + bias), else scale q k' + bias
  const uint8_t* drop_mask = nullptr;
  float keep_scale = 1;
  float scale = 1;
  // 0 band from the first, 1 all, 2 causal from the first, 3 from the last, 4 band from the last, 5 and 6 causal from
  // the last, with a visible prefix; of concatenated sequences 7: 3, and 4 for the last one, 8: 2, and 4 for the first
  // one.
  int64_t sparse_mode = 0;
  // One logit for each head, which takes part in the sums and has no value; null if not given.
  const float* sinks = nullptr;
  int64_t sink_stride = 0;
  int64_t before = INT64_MAX, after = INT64_MAX;  // number of visible keys before and after the query's own

  int64_t batch_of(size_t sequence) const { return is_packed ? 0 : static_cast<int64_t>(sequence); }
  // The row of the key's table of pages, or its batch.
  int64_t key_batch_of(size_t sequence) const {
    return key.is_paged() ? static_cast<int64_t>(sequence) : batch_of(sequence);
  }
  float sink(int64_t head) const { return sinks[head * sink_stride]; }
  int64_t key_head(int64_t head) const { return head / (query.heads / key.heads); }
  Span seen(const Sequence& sequence, int64_t query_position) const;

  // Adds the bias to the scaled scores of a block and sets masked ones to -inf. `by_key` and `by_query` are the
  // distances between keys and between queries, in floats.
  void finish_scores(size_t sequence, int64_t head, int64_t first_query, int64_t queries, int64_t first_key,
                     int64_t keys, float* scores, int64_t by_key, int64_t by_query) const;
  // The factor of dropout for the weight of this key.
  float kept(const Sequence& sequence, int64_t head, int64_t query_position, int64_t key_position) const {
    if (drop_mask == nullptr) return 1;
    const int64_t bit =
        sequence.drop_start + (head * sequence.query_length + query_position) * sequence.key_length + key_position;
    return (drop_mask[bit / 8] >> (bit % 8) & 1) != 0 ? keep_scale : 0;
  }
};

// The arguments that the ABI's functions share. Null if not given.
struct AttentionArguments {
  const aclTensor& query;
  const aclTensor& key;
  const aclTensor& value;
  const aclTensor* bias = nullptr;
  const aclTensor* drop_mask = nullptr;
  const aclTensor* padding_mask = nullptr;
  const aclTensor* mask = nullptr;
  const aclTensor* sink = nullptr;
  const aclTensor* query_rope = nullptr;  // more channels of query and key, which both are given or neither
  const aclTensor* key_rope = nullptr;
  const aclTensor* block_table =
      nullptr;  // [sequences, pages]: key and value are [pages, page, H] or [pages, N, page, D]
  const aclIntArray* prefix = nullptr;
  const aclIntArray* query_ends = nullptr;  // of TND: the end of each sequence
  const aclIntArray* key_ends = nullptr;
  const aclIntArray* query_lengths = nullptr;  // of other layouts: lengths of shorter sequences
  const aclIntArray* key_lengths = nullptr;    // with pages of every layout
  double scale = 1;
  double keep_prob = 1;
  int64_t pre_tokens = INT64_MAX;
  int64_t next_tokens = INT64_MAX;
  int64_t heads = 0;
  int64_t key_heads = 0;  // 0: derived from the key's channels
  const char* layout = nullptr;
  int64_t page = 0;  // positions of a page, with a block_table
  int64_t sparse_mode = 0;
  int64_t pse_type = 1;
  // Of TND. "same_as_input": row numbers are [queries, heads, n]; else [heads, queries, n] of one sequence after the
  // other, in a tensor of the former shape.
  const char* softmax_layout = nullptr;
};

// A float32 for each head.
Status read_sinks(const aclTensor& tensor, const char* role, int64_t heads, float** data, int64_t* stride);

Status read_attention(const AttentionArguments& arguments, AttentionProblem* out);

// The number of columns padded for products.
int64_t padded(int64_t columns);

// The block sizes of queries and keys.
constexpr int64_t kQueries = 64;
constexpr int64_t kKeys = 128;

}  // namespace softnpu
