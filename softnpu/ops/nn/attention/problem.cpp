#include "ops/nn/attention/problem.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/round.h"
#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/listed.h"
#include "ops/core/tensor_memory.h"
#include "ops/nn/attention/gemm.h"

namespace softnpu {
namespace {

Status bad(std::string message) { return {ACLNN_ERR_PARAM_INVALID, std::move(message)}; }

// Reads `tensor` as [batch, heads, queries, keys], [batch, queries, keys] or [queries, keys].
Status read_scores(const aclTensor& tensor, const char* role, const AttentionProblem& problem, int64_t queries,
                   int64_t keys, int64_t batch, aclDataType as, ScoreOperand* out) {
  const int64_t wanted[4] = {batch, problem.query.heads, queries, keys};
  const size_t n = tensor.dims.size();
  if (n > 4 || n < 2) return bad(text(role, " is ", describe(tensor), "; two to four dimensions are taken"));
  const auto size = static_cast<int64_t>(aclDataTypeSize(tensor.dtype));
  out->is_full = n == 4;
  for (size_t i = 0; i < n; ++i) {
    const size_t k = n == 3 && i == 0 ? 0 : i + 4 - n;
    const int64_t dim = tensor.dims[i];
    if (dim != 1 && dim != wanted[k]) {
      return bad(text(role, " is ", describe(tensor), ", which is not broadcast to ", describe_shape(wanted)));
    }
    out->strides[k] = dim == 1 && wanted[k] != 1 ? 0 : tensor.strides[i] * size;
    out->is_full = out->is_full && dim == wanted[k];
  }
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
  out->data = static_cast<char*>(data);
  out->reader = ElementReader(tensor.dtype, as);
  return Status::ok();
}

// Sets the length of sequence `b` if `lengths` are given.
Status shorten(const aclIntArray* lengths, const char* role, int64_t b, int64_t batch, int64_t* length) {
  if (lengths == nullptr || lengths->empty()) return Status::ok();
  const auto count = static_cast<int64_t>(lengths->size());
  if (count != 1 && count < batch) return bad(text(count, " lengths of ", role, " for ", batch, " sequences"));
  const int64_t own = (*lengths)[static_cast<size_t>(count == 1 ? 0 : b)];
  if (own < 0 || own > *length) return bad(text("sequence ", b, " has ", own, " of ", *length, " ", role));
  *length = own;
  return Status::ok();
}

// The sequences of a batch, or concatenated ones.
Status read_sequences(const AttentionArguments& arguments, AttentionProblem* problem) {
  const Heads& query = problem->query;
  const Heads& key = problem->key;
  auto listed = static_cast<size_t>(query.batch);
  if (!problem->is_packed) {
    SOFTNPU_RETURN_IF_ERROR(check_listed(checked(query.batch), "sequences"));
    for (int64_t b = 0; b < query.batch; ++b) {
      Sequence s{0, query.length, 0, key.length, b * query.heads * query.length * key.length, 0};
      SOFTNPU_RETURN_IF_ERROR(shorten(arguments.query_lengths, "queries", b, query.batch, &s.query_length));
      SOFTNPU_RETURN_IF_ERROR(shorten(arguments.key_lengths, "keys", b, query.batch, &s.key_length));
      problem->sequences.push_back(s);
    }
  } else if (key.is_paged()) {
    SOFTNPU_RETURN_IF_ERROR(not_null(arguments.query_ends, "actualSeqQLen, which the layout TND needs,"));
    const aclIntArray& ends = *arguments.query_ends;
    listed = ends.size();
    const auto count = static_cast<int64_t>(listed);
    int64_t start = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t end = ends[static_cast<size_t>(i)];
      if (end < start || end > query.length) {
        return bad(
            text("sequence ", i, " of queries ends at ", end, " after ", start, ": ends grow up to ", query.length));
      }
      Sequence s{start, end - start, 0, key.length, 0, 0};
      SOFTNPU_RETURN_IF_ERROR(shorten(arguments.key_lengths, "keys", i, count, &s.key_length));
      problem->sequences.push_back(s);
      start = end;
    }
  } else {
    SOFTNPU_RETURN_IF_ERROR(not_null(arguments.query_ends, "actualSeqQLen, which the layout TND needs,"));
    SOFTNPU_RETURN_IF_ERROR(not_null(arguments.key_ends, "actualSeqKvLen, which the layout TND needs,"));
    const aclIntArray& ends = *arguments.query_ends;
    const aclIntArray& key_ends = *arguments.key_ends;
    if (ends.size() != key_ends.size())
      return bad(text(ends.size(), " sequences of queries, ", key_ends.size(), " of keys"));
    listed = ends.size();
    // Zeros at the end are sequences that do not take part.
    size_t count = ends.size();
    while (count > 1 && ends[count - 1] == 0 && key_ends[count - 1] == 0) --count;
    Sequence last;
    int64_t drop_start = 0;
    for (size_t i = 0; i < count; ++i) {
      const int64_t start = last.query_start + last.query_length;
      const int64_t key_start = last.key_start + last.key_length;
      if (ends[i] < start || ends[i] > query.length || key_ends[i] < key_start || key_ends[i] > key.length) {
        return bad(text("sequence ", i, " ends at ", ends[i], " and ", key_ends[i], ": ends grow up to ", query.length,
                        " and ", key.length));
      }
      last = {start, ends[i] - start, key_start, key_ends[i] - key_start, drop_start, 0};
      drop_start += query.heads * last.query_length * last.key_length;
      problem->sequences.push_back(last);
    }
  }
  Checked blocks;
  for (const Sequence& s : problem->sequences) {
    blocks = blocks + checked(query.heads) * (s.query_length / kQueries + s.key_length / kKeys + 2);
  }
  SOFTNPU_RETURN_IF_ERROR(check_listed(blocks, "blocks of queries and keys"));
  for (Sequence& s : problem->sequences) s.sparse_mode = problem->sparse_mode;
  if (problem->sparse_mode > 6) {
    for (Sequence& s : problem->sequences) s.sparse_mode = problem->sparse_mode == 7 ? 3 : 2;
    (problem->sparse_mode == 7 ? problem->sequences.back() : problem->sequences.front()).sparse_mode = 4;
  }
  if (problem->sparse_mode != 5 && problem->sparse_mode != 6) return Status::ok();
  SOFTNPU_RETURN_IF_ERROR(not_null(arguments.prefix, "prefix, which this sparse mode needs,"));
  if (arguments.prefix->size() != listed) {
    return bad(text(arguments.prefix->size(), " prefixes for ", listed, " sequences"));
  }
  for (size_t i = 0; i < problem->sequences.size(); ++i) {
    Sequence& s = problem->sequences[i];
    s.prefix = std::clamp((*arguments.prefix)[i], int64_t{0}, s.key_length);
  }
  return Status::ok();
}

Status read_drop_mask(const AttentionArguments& arguments, AttentionProblem* problem) {
  if (!(arguments.keep_prob > 0 && arguments.keep_prob <= 1)) {
    return bad(text("keepProb is ", arguments.keep_prob, ", not above 0 and up to 1"));
  }
  if (arguments.keep_prob == 1 || arguments.drop_mask == nullptr || element_count(*arguments.drop_mask) == 0) {
    if (arguments.keep_prob == 1) return Status::ok();
    return {ACLNN_ERR_PARAM_NULLPTR, "dropMask, which a keepProb below 1 needs, is null or empty"};
  }
  const aclTensor& mask = *arguments.drop_mask;
  const Heads& query = problem->query;
  // In a batch every sequence has bits for its padded length; concatenated sequences have one per score.
  Checked all =
      problem->is_packed ? checked(0) : checked(query.batch) * query.heads * query.length * problem->key.length;
  for (const Sequence& s : problem->sequences) {
    if (problem->is_packed) all = all + checked(query.heads) * s.query_length * s.key_length;
  }
  int64_t bits = 0;
  SOFTNPU_RETURN_IF_ERROR(fit(all + 7, "the number of scores", &bits));
  bits = 0;
  for (const Sequence& s : problem->sequences) bits = s.drop_start + query.heads * s.query_length * s.key_length;
  if (mask.dtype != ACL_UINT8 || !is_dense(mask) || element_count(mask) < (bits + 7) / 8) {
    return bad(
        text("dropMask is ", describe(mask), "; uint8 without gaps is taken, of ", (bits + 7) / 8, " bytes at least"));
  }
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(mask, "dropMask", &data));
  problem->drop_mask = static_cast<const uint8_t*>(data);
  problem->keep_scale = static_cast<float>(1 / arguments.keep_prob);
  return Status::ok();
}

// A bias of this many rows for more queries is compressed.
constexpr int64_t kCompressedRows = 1024;

Status read_bias(const aclTensor& bias, int64_t queries, int64_t keys, AttentionProblem* problem) {
  if (!is_known(bias.dtype) || !is_floating(bias.dtype))
    return bad(text("pse is ", describe(bias), "; floating-point types are taken"));
  if (problem->sparse_mode > 6) return bad(text("pse is given, which sparse mode ", problem->sparse_mode, " has not"));
  const size_t n = bias.dims.size();
  const bool is_compressed = n == 4 && bias.dims[2] == kCompressedRows && queries > kCompressedRows;
  if (is_compressed) {
    bool has_diagonal = problem->sparse_mode == 0 || problem->sparse_mode == 2 || problem->sparse_mode == 3;
    for (const Sequence& s : problem->sequences) has_diagonal = has_diagonal && s.query_length == s.key_length;
    if (!has_diagonal || !is_dense(bias)) {
      return bad(text("pse is ", describe(bias), ", the last ", kCompressedRows, " rows of a bias for ", queries,
                      " queries: it has to be dense, for as many keys as queries, in sparse mode 0, 2 or 3"));
    }
    problem->bias.absent_rows = queries - kCompressedRows;
  }
  const int64_t batch = problem->is_packed ? static_cast<int64_t>(problem->sequences.size()) : problem->query.batch;
  return read_scores(bias, "pse", *problem, is_compressed ? kCompressedRows : queries, keys, batch, ACL_FLOAT,
                     &problem->bias);
}

// Saturating addition.
int64_t plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return b > 0 ? INT64_MAX : INT64_MIN;
  return sum;
}

}  // namespace

Status read_sinks(const aclTensor& tensor, const char* role, int64_t heads, float** data, int64_t* stride) {
  if (tensor.dtype != ACL_FLOAT || tensor.dims.size() != 1 || tensor.dims[0] != heads) {
    return bad(text(role, " is ", describe(tensor), "; float32 of [", heads, "] is taken"));
  }
  void* memory = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &memory));
  *data = static_cast<float*>(memory);
  *stride = tensor.strides[0];
  return Status::ok();
}

int64_t padded(int64_t columns) { return static_cast<int64_t>(round_up(static_cast<size_t>(columns), kScoreColumns)); }

Span AttentionProblem::seen(const Sequence& s, int64_t query_position) const {
  const int64_t shift = s.key_length - s.query_length;  // offset that aligns the last query with the last key
  const auto band = [&](int64_t own) -> Span {
    return {std::clamp(plus(own, -before), int64_t{0}, s.key_length),
            std::clamp(plus(plus(own, after), 1), int64_t{0}, s.key_length), 0};
  };
  const auto causal = [&](int64_t own) -> Span { return {0, std::clamp(own + 1, int64_t{0}, s.key_length), s.prefix}; };
  switch (s.sparse_mode) {
    case 0: return band(query_position);
    case 2: return causal(query_position);
    case 3:
    case 5:
    case 6: return causal(query_position + shift);
    case 4: return band(query_position + shift);
    default: return {0, s.key_length, 0};
  }
}

void AttentionProblem::finish_scores(size_t sequence, int64_t head, int64_t first_query, int64_t queries,
                                     int64_t first_key, int64_t keys, float* scores, int64_t by_key,
                                     int64_t by_query) const {
  constexpr float kUnseen = -std::numeric_limits<float>::infinity();
  const Sequence& s = sequences[sequence];
  const int64_t b = batch_of(sequence);
  const auto sees_all = [&](int64_t query) {
    const Span span = seen(s, query);
    return span.first <= first_key && first_key + keys <= span.last;
  };
  // Both ends of the visible range are monotonic in the query.
  const bool is_open = sees_all(first_query) && sees_all(first_query + queries - 1);
  if (is_open && bias.data == nullptr && mask.data == nullptr) return;
  alignas(64) float biases[kKeys];
  alignas(64) int32_t masked[kKeys];
  for (int64_t i = 0; i < queries; ++i) {
    float* x = scores + i * by_query;
    const int64_t query = first_query + i;
    if (bias.data != nullptr) {
      bias.reader.read(bias.at(static_cast<int64_t>(sequence), head, query) + first_key * bias.strides[3],
                       bias.strides[3], static_cast<size_t>(keys), biases);
      const float factor = scales_bias ? scale : 1;
      for (int64_t j = 0; j < keys; ++j) x[j * by_key] += factor * biases[j];
    }
    if (!is_open) {
      const Span span = seen(s, query);
      const auto location = [&](int64_t key) { return std::clamp(key - first_key, int64_t{0}, keys); };
      const int64_t prefix_end = location(span.prefix);
      for (int64_t j = prefix_end; j < location(span.first); ++j) x[j * by_key] = kUnseen;
      for (int64_t j = std::max(prefix_end, location(span.last)); j < keys; ++j) x[j * by_key] = kUnseen;
    }
    if (mask.data != nullptr) {
      mask.reader.read(mask.at(b, head, query) + first_key * mask.strides[3], mask.strides[3],
                       static_cast<size_t>(keys), masked);
      for (int64_t j = 0; j < keys; ++j) {
        if (masked[j] != 0) x[j * by_key] = kUnseen;
      }
    }
  }
}

namespace {

// Keys or values in pages. Which pages a sequence has is known when the operator runs.
Status read_paged(const AttentionArguments& arguments, const aclTensor& tensor, const char* role, int64_t heads,
                  int64_t sequences, Heads* out) {
  const aclTensor& table = *arguments.block_table;
  const bool is_stack = tensor.dims.size() == 4;
  SOFTNPU_RETURN_IF_ERROR(read_heads(tensor, role, is_stack ? "BNSD" : "BSH", heads, out));
  if (table.dtype != ACL_INT32 || table.dims.size() != 2 || table.dims[0] < sequences) {
    return bad(text("blockTable is ", describe(table), "; int32 of [", sequences, ", pages] is taken"));
  }
  if (arguments.page <= 0 || out->length != arguments.page) {
    return bad(text("blockSize is ", arguments.page, " where ", role, " is ", describe(tensor),
                    ": it is the number of positions of a page"));
  }
  out->pages = {nullptr, table.dims[1], out->length, out->batch};
  int64_t length = 0;
  SOFTNPU_RETURN_IF_ERROR(fit(checked(table.dims[1]) * out->length, "the number of positions of a sequence", &length));
  out->length = length;
  return Status::ok();
}

Status read_ropes(const AttentionArguments& arguments, int64_t key_heads, int64_t sequences, AttentionProblem* out) {
  const auto has = [](const aclTensor* tensor) { return tensor != nullptr && element_count(*tensor) > 0; };
  if (!has(arguments.query_rope) && !has(arguments.key_rope)) return Status::ok();
  if (!has(arguments.query_rope) || !has(arguments.key_rope)) return bad("one of queryRope and keyRope is given alone");
  const auto query = std::make_shared<Heads>();
  const auto key = std::make_shared<Heads>();
  SOFTNPU_RETURN_IF_ERROR(
      read_heads(*arguments.query_rope, "queryRope", arguments.layout, arguments.heads, query.get()));
  if (arguments.block_table == nullptr) {
    SOFTNPU_RETURN_IF_ERROR(read_heads(*arguments.key_rope, "keyRope", arguments.layout, key_heads, key.get()));
  } else {
    SOFTNPU_RETURN_IF_ERROR(read_paged(arguments, *arguments.key_rope, "keyRope", key_heads, sequences, key.get()));
  }
  const auto same = [](const Heads& a, const Heads& b) {
    return a.batch == b.batch && a.heads == b.heads && a.length == b.length;
  };
  if (!same(*query, out->query) || !same(*key, out->key) || query->channels != key->channels ||
      query->dtype != out->query.dtype || key->dtype != out->key.dtype) {
    return bad(text("queryRope is ", describe(*arguments.query_rope), " and keyRope ", describe(*arguments.key_rope),
                    ": they are like query and key, with channels of their own"));
  }
  out->query.channels += query->channels;
  out->key.channels += key->channels;
  out->query.tail = query;
  out->key.tail = key;
  return Status::ok();
}

}  // namespace

Status read_attention(const AttentionArguments& arguments, AttentionProblem* out) {
  if (arguments.layout == nullptr) return {ACLNN_ERR_PARAM_NULLPTR, "the layout is null"};
  const std::string_view layout = arguments.layout;
  out->is_packed = layout.find('T') != std::string_view::npos;
  SOFTNPU_RETURN_IF_ERROR(read_heads(arguments.query, "query", layout, arguments.heads, &out->query));
  int64_t key_heads = arguments.key_heads;
  const bool is_paged = arguments.block_table != nullptr;
  if ((layout.back() == 'H' || is_paged) && key_heads == 0 && out->query.channels > 0 &&
      arguments.key.dims.size() == 3) {
    key_heads = arguments.key.dims[2] / out->query.channels;
  }
  int64_t sequences = out->query.batch;
  if (out->is_packed)
    sequences = arguments.query_ends == nullptr ? 0 : static_cast<int64_t>(arguments.query_ends->size());
  if (!is_paged) {
    SOFTNPU_RETURN_IF_ERROR(read_heads(arguments.key, "key", layout, key_heads, &out->key));
    SOFTNPU_RETURN_IF_ERROR(read_heads(arguments.value, "value", layout, key_heads, &out->value));
  } else {
    SOFTNPU_RETURN_IF_ERROR(read_paged(arguments, arguments.key, "key", key_heads, sequences, &out->key));
    SOFTNPU_RETURN_IF_ERROR(read_paged(arguments, arguments.value, "value", key_heads, sequences, &out->value));
    if (arguments.key_lengths == nullptr || arguments.key_lengths->empty()) {
      return bad("the lengths of keys are not given, which a table of pages needs");
    }
  }
  const Heads& q = out->query;
  const Heads& k = out->key;
  const Heads& v = out->value;
  if (arguments.heads != q.heads)
    return bad(text("headNum is ", arguments.heads, " where query has ", q.heads, " heads"));
  const bool has_batch = out->key.is_paged() || (q.batch == k.batch && k.batch == v.batch);
  if (!has_batch || out->key.pages.count != out->value.pages.count || k.length != v.length || k.heads != v.heads ||
      q.channels != k.channels || k.heads == 0 || q.heads % k.heads != 0) {
    return bad(text("query ", describe(arguments.query), ", key ", describe(arguments.key), " and value ",
                    describe(arguments.value), " do not fit, with ", q.heads, " heads and ", k.heads, " of keys"));
  }
  if (arguments.padding_mask != nullptr && element_count(*arguments.padding_mask) > 0) {
    return bad("paddingMask is given; leave it out and use attenMask");
  }
  out->sparse_mode = arguments.sparse_mode;
  const int64_t modes = out->is_packed ? 8 : 6;
  if (out->sparse_mode < 0 || out->sparse_mode > modes) {
    return bad(text("sparse mode ", out->sparse_mode, " is not taken: it is 0 to ", modes));
  }
  SOFTNPU_RETURN_IF_ERROR(read_ropes(arguments, key_heads, sequences, out));
  // Without a mask every query sees every key in all modes.
  const bool has_mask = arguments.mask != nullptr && element_count(*arguments.mask) > 0;
  if (!has_mask) out->sparse_mode = 1;
  out->scale = static_cast<float>(arguments.scale);
  out->before = arguments.pre_tokens;
  out->after = arguments.next_tokens;
  if (arguments.pse_type != 0 && arguments.pse_type != 1) {
    return bad(text("pseType ", arguments.pse_type, " is not taken: it is 0 or 1"));
  }
  out->scales_bias = arguments.pse_type == 1;
  SOFTNPU_RETURN_IF_ERROR(read_sequences(arguments, out));
  int64_t queries = out->is_packed ? 0 : q.length;
  int64_t keys = out->is_packed ? 0 : k.length;
  for (const Sequence& s : out->sequences) {
    queries = std::max(queries, s.query_length);
    keys = std::max(keys, s.key_length);
  }
  // Other modes define the mask themselves; a mask tensor is then a pattern with its own size.
  if (has_mask && out->sparse_mode < 2) {
    const aclTensor& mask = *arguments.mask;
    if (mask.dtype != ACL_BOOL && mask.dtype != ACL_UINT8 && mask.dtype != ACL_INT8) {
      return bad(text("attenMask is ", describe(mask), "; bool, uint8 and int8 are taken"));
    }
    SOFTNPU_RETURN_IF_ERROR(read_scores(mask, "attenMask", *out, queries, keys, q.batch, ACL_INT32, &out->mask));
  }
  if (arguments.bias != nullptr && element_count(*arguments.bias) > 0) {
    SOFTNPU_RETURN_IF_ERROR(read_bias(*arguments.bias, queries, keys, out));
  }
  if (arguments.sink != nullptr && element_count(*arguments.sink) > 0) {
    float* sinks = nullptr;
    SOFTNPU_RETURN_IF_ERROR(read_sinks(*arguments.sink, "sink", q.heads, &sinks, &out->sink_stride));
    out->sinks = sinks;
  }
  return read_drop_mask(arguments, out);
}

}  // namespace softnpu
