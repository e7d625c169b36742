#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/iterate/flat.h"
#include "ops/core/tensor_memory.h"
#include "ops/nn/attention/attention.h"
#include "ops/nn/attention/blocks.h"
#include "ops/nn/attention/gemm.h"
#include "ops/nn/attention/score_block.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

struct Forward {
  AttentionProblem problem;
  FlatTensor table;  // of pages
  Heads out;
  RowNumbers maximum, sum, log_sum;
  std::vector<BlockTask> tasks;
  MapKernel exp = nullptr;
  int threads = 1;

  int64_t channels() const { return problem.query.channels; }
  int64_t columns() const { return padded(problem.value.channels); }
  Checked floats() const {
    const Checked width = checked(padded(channels()));
    return width * kQueries + (width + columns()) * kKeys + kKeys * kQueries + checked(columns()) * kQueries +
           3 * kQueries + channels();
  }

  void run(float* workspace) const {
    run_tasks(tasks, threads, workspace, floats().value(),
              [this](const BlockTask& task, Floats memory) { run_block(task, memory); });
  }

  // Reads which pages the sequences have.
  Status run_paged(float* workspace) const {
    const Pages& layout = problem.key.pages;
    const auto rows = static_cast<int64_t>(problem.sequences.size());
    std::vector<int64_t> pages;
    pages.reserve(static_cast<size_t>(rows * layout.row));
    table.for_runs(0, rows * layout.row, [&](const char* from, ptrdiff_t stride, int64_t count) {
      for (int64_t i = 0; i < count; ++i, from += stride) {
        int32_t page = 0;
        std::memcpy(&page, from, sizeof(page));
        pages.push_back(page);
      }
    });
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t length = problem.sequences[static_cast<size_t>(i)].key_length;
      for (int64_t j = 0; j * layout.size < length; ++j) {
        const int64_t page = pages[static_cast<size_t>(i * layout.row + j)];
        if (page >= 0 && page < layout.count) continue;
        return {ACLNN_ERR_PARAM_INVALID, text("blockTable: page ", j, " of sequence ", i, " is ", page,
                                              ", out of range: 0 up to ", layout.count - 1, " are taken")};
      }
    }
    Forward own = *this;
    own.problem.key.pages.pages = own.problem.value.pages.pages = pages.data();
    if (own.problem.key.tail != nullptr) {
      own.problem.key.tail = std::make_shared<Heads>(*own.problem.key.tail);
      own.problem.key.tail->pages.pages = pages.data();
    }
    own.run(workspace);
    return Status::ok();
  }

  // Up to this many queries are multiplied with keys one by one: vectors over queries would be mostly empty.
  static constexpr int64_t kFew = 4;

  // Per-row state of a block of queries.
  struct Rowwise {
    float* o;  // [query][columns]: sums of weighted values
    float* most;
    float* all;
    float* rescale;
  };

  void run_block(const BlockTask& task, Floats memory) const {
    const auto sequence = static_cast<size_t>(task.sequence);
    const Sequence& s = problem.sequences[sequence];
    const int64_t b = problem.batch_of(sequence);
    const int64_t queries = std::min(kQueries, s.query_length - task.first);
    const int64_t dv = columns();
    const Rowwise sums{memory.take(kQueries * dv), memory.take(kQueries), memory.take(kQueries), memory.take(kQueries)};
    std::fill(sums.o, sums.o + queries * dv, 0.0f);
    float most = kNone, all = 0;
    if (problem.sinks != nullptr) most = problem.sink(task.head), all = 1;
    std::fill(sums.most, sums.most + kQueries, most);
    std::fill(sums.all, sums.all + kQueries, all);
    if (queries <= kFew && problem.drop_mask == nullptr) {
      add_few(task, queries, sums, memory);
    } else {
      add_many(task, queries, sums, memory);
    }
    for (int64_t i = 0; i < queries; ++i) {
      const int64_t query = task.first + i;
      float* row = sums.o + i * dv;
      const float sum_of_row = sums.all[i];
      const float inverse = sum_of_row > 0 ? 1 / sum_of_row : 0;  // if no key is visible the result is 0
      for (int64_t j = 0; j < dv; ++j) row[j] *= inverse;
      out.write(row, b, task.head, s.query_start + query);
      maximum.write(sums.most[i], s, b, task.head, query);
      sum.write(sum_of_row, s, b, task.head, query);
      log_sum.write(sum_of_row > 0 ? sums.most[i] + std::log(sum_of_row) : std::numeric_limits<float>::infinity(), s, b,
                    task.head, query);
    }
  }

  // Calls visit(first, keys) for each block of keys that the queries see.
  template <typename Visit>
  void for_keys(const BlockTask& task, int64_t queries, const Visit& visit) const {
    const Sequence& s = problem.sequences[static_cast<size_t>(task.sequence)];
    const Span span = seen_by_block(problem, s, task.first, queries);
    for (int64_t first = span.first / kKeys * kKeys; first < span.last; first += kKeys) {
      visit(first, std::min(kKeys, s.key_length - first));
    }
  }

  void rescale(const Rowwise& sums, int64_t queries) const {
    const int64_t dv = columns();
    for (int64_t i = 0; i < queries; ++i) {
      if (sums.rescale[i] == 1) continue;
      for (int64_t j = 0; j < dv; ++j) sums.o[i * dv + j] *= sums.rescale[i];
    }
  }

  void add_many(const BlockTask& task, int64_t queries, const Rowwise& sums, Floats memory) const {
    const auto sequence = static_cast<size_t>(task.sequence);
    const Sequence& s = problem.sequences[sequence];
    const int64_t b = problem.batch_of(sequence);
    const int64_t d = channels();
    const int64_t dv = columns();
    const int64_t width = padded(queries);
    float* qt = memory.take(d * kQueries);
    float* k_copy = memory.take(kKeys * padded(d));
    float* v_copy = memory.take(kKeys * dv);
    float* p = memory.take(kKeys * kQueries);
    float* line = memory.take(d);
    load_columns(problem.query, b, task.head, s.query_start + task.first, queries, problem.scale, qt, width, line);
    const int64_t key_head = problem.key_head(task.head);
    const int64_t key_b = problem.key_batch_of(sequence);
    for_keys(task, queries, [&](int64_t first, int64_t keys) {
      const Rows k = left_rows(problem.key, key_b, key_head, s.key_start + first, keys, k_copy);
      const Rows v = right_rows(problem.value, key_b, key_head, s.key_start + first, keys, v_copy);
      small_gemm(keys, width, d, k.data, k.row, k.column, qt, width, p, width, false);
      problem.finish_scores(sequence, task.head, task.first, queries, first, keys, p, width, 1);
      softmax_scores(p, keys, width, sums.most, sums.all, sums.rescale, exp);
      rescale(sums, queries);
      if (problem.drop_mask != nullptr) drop(s, task, queries, first, keys, p, width);
      small_gemm(queries, dv, keys, p, 1, width, v.data, v.row, sums.o, dv, true);
    });
  }

  void add_few(const BlockTask& task, int64_t queries, const Rowwise& sums, Floats memory) const {
    const auto sequence = static_cast<size_t>(task.sequence);
    const Sequence& s = problem.sequences[sequence];
    const int64_t b = problem.batch_of(sequence);
    const int64_t d = padded(channels());
    const int64_t dv = columns();
    float* q = memory.take(kFew * d);
    float* k_copy = memory.take(kKeys * d);
    float* v_copy = memory.take(kKeys * dv);
    float* p = memory.take(kFew * kKeys);
    load_rows(problem.query, b, task.head, s.query_start + task.first, queries, q, d);
    for (int64_t i = 0; i < queries * d; ++i) q[i] *= problem.scale;
    const int64_t key_head = problem.key_head(task.head);
    const int64_t key_b = problem.key_batch_of(sequence);
    for_keys(task, queries, [&](int64_t first, int64_t keys) {
      const Rows k = right_rows(problem.key, key_b, key_head, s.key_start + first, keys, k_copy);
      const Rows v = right_rows(problem.value, key_b, key_head, s.key_start + first, keys, v_copy);
      for (int64_t i = 0; i < queries; ++i) dot_rows(q + i * d, k.data, k.row, keys, channels(), p + i * kKeys);
      problem.finish_scores(sequence, task.head, task.first, queries, first, keys, p, 1, kKeys);
      for (int64_t i = 0; i < queries; ++i) {
        softmax_row(p + i * kKeys, keys, sums.most + i, sums.all + i, sums.rescale + i, exp);
      }
      rescale(sums, queries);
      small_gemm(queries, dv, keys, p, kKeys, 1, v.data, v.row, sums.o, dv, true);
    });
  }

  void drop(const Sequence& s, const BlockTask& task, int64_t queries, int64_t first_key, int64_t keys, float* p,
            int64_t width) const {
    for (int64_t i = 0; i < queries; ++i) {
      for (int64_t j = 0; j < keys; ++j) p[j * width + i] *= problem.kept(s, task.head, task.first + i, first_key + j);
    }
  }
};

}  // namespace

Status softmax_is_by_sequence(const AttentionArguments& arguments, const AttentionProblem& problem, bool* out) {
  const std::string_view layout = arguments.softmax_layout == nullptr ? "" : arguments.softmax_layout;
  const bool is_as_input = layout == "same_as_input";
  if (!layout.empty() && !(is_as_input && problem.is_packed)) {
    return {ACLNN_ERR_PARAM_INVALID, text("softmaxOutLayout is '", layout, "' for the layout ", arguments.layout,
                                          "; it is empty, or 'same_as_input' for TND")};
  }
  *out = problem.is_packed && !is_as_input;
  return Status::ok();
}

Status read_row_numbers(const aclTensor* tensor, const char* role, const AttentionProblem& problem, bool is_by_sequence,
                        RowNumbers* out) {
  if (tensor == nullptr || element_count(*tensor) == 0) return Status::ok();
  const size_t n = tensor->dims.size();
  const Heads& query = problem.query;
  const bool fits = problem.is_packed ? n == 3 && tensor->dims[0] == query.length && tensor->dims[1] == query.heads
                                      : n == 4 && tensor->dims[0] == query.batch && tensor->dims[1] == query.heads &&
                                            tensor->dims[2] == query.length;
  if (!fits || tensor->dtype != ACL_FLOAT) {
    return {ACLNN_ERR_PARAM_INVALID,
            text(role, " is ", describe(*tensor), "; float32 of [batch, heads, queries, n] or ",
                 "[queries, heads, n] is taken")};
  }
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(*tensor, role, &data));
  const auto stride = [&](size_t i) { return tensor->strides[i] * static_cast<int64_t>(sizeof(float)); };
  out->data = static_cast<char*>(data);
  out->batch_stride = problem.is_packed ? 0 : stride(0);
  out->head_stride = stride(1);
  out->position_stride = problem.is_packed ? stride(0) : stride(2);
  out->copy_stride = stride(n - 1);
  out->copies = tensor->dims[n - 1];
  out->is_by_sequence = is_by_sequence;
  if (is_by_sequence && !is_dense(*tensor)) {
    return {ACLNN_ERR_PARAM_INVALID, text(role, " is ", describe(*tensor), "; without gaps is taken")};
  }
  return Status::ok();
}

Status attention(const AttentionArguments& arguments, const AttentionResults& results, Plan* plan) {
  auto task = std::make_shared<Forward>();
  AttentionProblem& problem = task->problem;
  SOFTNPU_RETURN_IF_ERROR(read_attention(arguments, &problem));
  const char* layout = results.out_layout == nullptr ? arguments.layout : results.out_layout;
  SOFTNPU_RETURN_IF_ERROR(read_heads(results.out, "attentionOut", layout, problem.query.heads, &task->out));
  const Heads& out = task->out;
  if (out.batch != problem.query.batch || out.heads != problem.query.heads || out.length != problem.query.length ||
      out.channels != problem.value.channels) {
    return {ACLNN_ERR_PARAM_INVALID, text("attentionOut is ", describe(results.out), " for query ",
                                          describe(arguments.query), " and value ", describe(arguments.value))};
  }
  bool is_by_sequence = false;
  SOFTNPU_RETURN_IF_ERROR(softmax_is_by_sequence(arguments, problem, &is_by_sequence));
  SOFTNPU_RETURN_IF_ERROR(read_row_numbers(results.softmax_max, "softmaxMax", problem, is_by_sequence, &task->maximum));
  SOFTNPU_RETURN_IF_ERROR(read_row_numbers(results.softmax_sum, "softmaxSum", problem, is_by_sequence, &task->sum));
  SOFTNPU_RETURN_IF_ERROR(read_row_numbers(results.log_sum, "softmaxLse", problem, false, &task->log_sum));
  double flops = 0;
  for (size_t i = 0; i < problem.sequences.size(); ++i) {
    const Sequence& s = problem.sequences[i];
    flops += 2.0 * static_cast<double>(s.query_length) * static_cast<double>(s.key_length) *
             static_cast<double>(problem.query.heads * (problem.query.channels + problem.value.channels));
    for (int64_t head = 0; head < problem.query.heads; ++head) {
      for (int64_t first = 0; first < s.query_length; first += kQueries) {
        task->tasks.push_back({static_cast<int32_t>(i), static_cast<int32_t>(head), first});
      }
    }
  }
  task->exp = map_kernel(MapOp::kExp, ComputeType::kF32);
  task->threads = threads_for(flops);
  plan->workspace_bytes = task->floats() * task->threads * sizeof(float);
  plan->work = flops;
  plan->describe = describe_later({&arguments.query, &arguments.key});
  const bool is_paged = problem.key.is_paged();
  if (is_paged) SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(*arguments.block_table, -1, "blockTable", &task->table));
  plan->run = [task = std::shared_ptr<const Forward>(std::move(task)), is_paged](void* workspace) {
    if (is_paged) return task->run_paged(static_cast<float*>(workspace));
    task->run(static_cast<float*>(workspace));
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
