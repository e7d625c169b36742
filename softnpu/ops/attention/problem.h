#pragma once
// An attention problem: softmax(scale q k' + bias, masked) v, with everything that affects individual scores.

#include <string_view>
#include <vector>

#include "nnopbase/arrays.h"
#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"
#include "ops/attention/heads.h"

namespace softnpu {

// A tensor broadcast over batch, head, query and key. Strides in bytes; null data if there is no tensor.
struct ScoreOperand {
  char* data = nullptr;
  int64_t strides[4] = {};
  ElementReader reader;
  bool is_full = false;  // nothing is broadcast

  char* at(int64_t b, int64_t head, int64_t query) const {
    return data + b * strides[0] + head * strides[1] + query * strides[2];
  }
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
  int64_t sparse_mode = 0;  // 0 band from the first, 1 all, 2 causal from the first, 3 from the last, 4 band from the
                            // last, 5 and 6 causal from the last, with a visible prefix
  int64_t before = INT64_MAX, after = INT64_MAX;  // number of visible keys before and after the query's own

  int64_t batch_of(size_t sequence) const { return is_packed ? 0 : static_cast<int64_t>(sequence); }
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
  const aclIntArray* prefix = nullptr;
  const aclIntArray* query_ends = nullptr;  // of TND: the end of each sequence
  const aclIntArray* key_ends = nullptr;
  const aclIntArray* query_lengths = nullptr;  // of other layouts: lengths of shorter sequences
  const aclIntArray* key_lengths = nullptr;
  double scale = 1;
  double keep_prob = 1;
  int64_t pre_tokens = INT64_MAX;
  int64_t next_tokens = INT64_MAX;
  int64_t heads = 0;
  int64_t key_heads = 0;  // 0: derived from the key's channels
  const char* layout = nullptr;
  int64_t sparse_mode = 0;
  int64_t pse_type = 1;
};

Status read_attention(const AttentionArguments& arguments, AttentionProblem* out);

// The number of columns padded for products.
int64_t padded(int64_t columns);

// The block sizes of queries and keys.
constexpr int64_t kQueries = 64;
constexpr int64_t kKeys = 128;

}  // namespace softnpu
