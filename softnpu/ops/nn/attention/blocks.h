#pragma once
// Blocks of rows in float32, and per-row numbers.

#include <algorithm>
#include <vector>

#include "ops/math/elementwise/map_op.h"
#include "ops/nn/attention/problem.h"
#include "workers/parallel.h"

namespace softnpu {

// Loads rows from `first` on of a head, `row` floats apart; pads each row from its channels to `row` floats with 0.
inline void load_rows(const Heads& from, int64_t b, int64_t head, int64_t first, int64_t count, float* to,
                      int64_t row) {
  for (int64_t i = 0; i < count; ++i, to += row) {
    from.read(b, head, first + i, to);
    std::fill(to + from.channels, to + row, 0.0f);
  }
}

// Loads the transposed, scaled block: element [channel][position], `row` floats per channel. `line` is a buffer for one
// position's channels.
inline void load_columns(const Heads& from, int64_t b, int64_t head, int64_t first, int64_t count, float scale,
                         float* to, int64_t row, float* line) {
  for (int64_t i = 0; i < count; ++i) {
    from.read(b, head, first + i, line);
    for (int64_t d = 0; d < from.channels; ++d) to[d * row + i] = scale * line[d];
  }
  for (int64_t d = 0; d < from.channels; ++d) std::fill(to + d * row + count, to + (d + 1) * row, 0.0f);
}

// A block's rows as a matrix factor: in place or copied. Strides in floats.
struct Rows {
  const float* data = nullptr;
  size_t row = 0;
  size_t column = 1;
};

inline Rows copied_rows(const Heads& from, int64_t b, int64_t head, int64_t first, int64_t count, float* copy) {
  const int64_t row = padded(from.channels);
  load_rows(from, b, head, first, count, copy, row);
  return {copy, static_cast<size_t>(row), 1};
}

// As a left factor.
inline Rows left_rows(const Heads& from, int64_t b, int64_t head, int64_t first, int64_t count, float* copy) {
  constexpr int64_t kSize = sizeof(float);
  if (from.dtype != ACL_FLOAT || !from.is_run(first, count)) return copied_rows(from, b, head, first, count, copy);
  return {reinterpret_cast<const float*>(from.at(b, head, first)), static_cast<size_t>(from.position_stride / kSize),
          static_cast<size_t>(from.channel_stride / kSize)};
}

// As a right factor: its rows must be padded in memory.
inline Rows right_rows(const Heads& from, int64_t b, int64_t head, int64_t first, int64_t count, float* copy) {
  const bool is_row_aligned = from.channel_stride == sizeof(float) && from.channels == padded(from.channels);
  return (is_row_aligned ? left_rows : copied_rows)(from, b, head, first, count, copy);
}

// Per-query numbers in float32: [B, N, S, k] or [T, N, k], with k equal values each.
struct RowNumbers {
  char* data = nullptr;
  int64_t batch_stride = 0, head_stride = 0, position_stride = 0, copy_stride = 0, copies = 0;
  // Of concatenated sequences: those of each sequence are [N, S, k].
  bool is_by_sequence = false;

  // `query` is counted from the sequence's first.
  float* at(const Sequence& s, int64_t b, int64_t head, int64_t query) const {
    const int64_t offset = is_by_sequence
                               ? s.query_start * position_stride + (head * s.query_length + query) * head_stride
                               : b * batch_stride + head * head_stride + (s.query_start + query) * position_stride;
    return reinterpret_cast<float*>(data + offset);
  }
  float read(const Sequence& s, int64_t b, int64_t head, int64_t query) const { return *at(s, b, head, query); }
  void write(float value, const Sequence& s, int64_t b, int64_t head, int64_t query) const {
    if (data == nullptr) return;
    char* to = reinterpret_cast<char*>(at(s, b, head, query));
    for (int64_t i = 0; i < copies; ++i) *reinterpret_cast<float*>(to + i * copy_stride) = value;
  }
};

// For null or empty tensors the numbers are not written.
Status read_row_numbers(const aclTensor* tensor, const char* role, const AttentionProblem& problem, bool is_by_sequence,
                        RowNumbers* out);

// Whether softmaxMax and softmaxSum are stored sequence by sequence.
Status softmax_is_by_sequence(const AttentionArguments& arguments, const AttentionProblem& problem, bool* out);

// One task: a block of queries (or keys) of one head of one sequence.
struct BlockTask {
  int32_t sequence;
  int32_t head;
  int64_t first;
};

// The keys that any query of a block sees are in [first, last).
inline Span seen_by_block(const AttentionProblem& problem, const Sequence& sequence, int64_t first, int64_t queries) {
  const Span top = problem.seen(sequence, first);
  const Span bottom = problem.seen(sequence, first + queries - 1);  // both ends are monotonic in the query
  Span all{std::min(top.first, bottom.first), std::max(top.last, bottom.last), 0};
  if (top.prefix > 0) all = {0, std::clamp(std::max(all.last, top.prefix), int64_t{0}, sequence.key_length), 0};
  return all;
}

// Allocates consecutive buffers of floats.
class Floats {
 public:
  explicit Floats(float* at) : at_(at) {}
  float* take(int64_t count) {
    float* taken = at_;
    at_ += count;
    return taken;
  }

 private:
  float* at_;
};

// Calls run_task(task, memory) for all tasks. Each thread has `floats` floats of the workspace.
template <typename RunTask>
void run_tasks(const std::vector<BlockTask>& tasks, int threads, float* workspace, int64_t floats,
               const RunTask& run_task) {
  parallel_for_slots(static_cast<int64_t>(tasks.size()), 1, threads, [&](int64_t first, int64_t last, int slot) {
    float* own = workspace + slot * floats;
    for (int64_t i = first; i < last; ++i) run_task(tasks[static_cast<size_t>(i)], Floats(own));
  });
}

}  // namespace softnpu
