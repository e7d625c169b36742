#include <cmath>
#include <limits>
#include <memory>

#include "base/text.h"
#include "ops/attention/attention.h"
#include "ops/attention/blocks.h"
#include "ops/attention/gemm.h"
#include "ops/describe.h"
#include "ops/onednn/engine.h"
#include "ops/parallel.h"
#include "ops/tensor_memory.h"

namespace softnpu {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

struct Forward {
  AttentionProblem problem;
  Heads out;
  RowNumbers maximum, sum, log_sum;
  std::vector<BlockTask> tasks;
  MapKernel exp = nullptr;
  int threads = 1;

  int64_t channels() const { return problem.query.channels; }
  int64_t columns() const { return padded(problem.value.channels); }
  int64_t floats() const {
    return kQueries * channels() + channels() * kKeys + kKeys * columns() + kQueries * kKeys + kQueries * columns() +
           2 * kQueries + channels();
  }

  void run(float* workspace) const {
    parallel_for(static_cast<int64_t>(tasks.size()), 1, threads, [&](int64_t first, int64_t last) {
      float* own = workspace + omp_get_thread_num() * floats();
      for (int64_t i = first; i < last; ++i) run_block(tasks[static_cast<size_t>(i)], Floats(own));
    });
  }

  void run_block(const BlockTask& task, Floats memory) const {
    const auto sequence = static_cast<size_t>(task.sequence);
    const Sequence& s = problem.sequences[sequence];
    const int64_t b = problem.batch_of(sequence);
    const int64_t queries = std::min(kQueries, s.query_length - task.first);
    const int64_t d = channels();
    const int64_t dv = columns();
    float* q = memory.take(kQueries * d);
    float* kt = memory.take(d * kKeys);
    float* v = memory.take(kKeys * dv);
    float* p = memory.take(kQueries * kKeys);
    float* o = memory.take(kQueries * dv);
    float* most = memory.take(kQueries);
    float* all = memory.take(kQueries);
    float* line = memory.take(d);
    load_rows(problem.query, b, task.head, s.query_start + task.first, queries, q, d);
    std::fill(o, o + queries * dv, 0.0f);
    std::fill(most, most + queries, kNone);
    std::fill(all, all + queries, 0.0f);
    const int64_t key_head = problem.key_head(task.head);
    const Span span = seen_by_block(problem, s, task.first, queries);
    for (int64_t first = span.first / kKeys * kKeys; first < span.last; first += kKeys) {
      const int64_t keys = std::min(kKeys, s.key_length - first);
      load_columns(problem.key, b, key_head, s.key_start + first, keys, kt, kKeys, line);
      load_rows(problem.value, b, key_head, s.key_start + first, keys, v, dv);
      small_gemm(queries, padded(keys), d, q, d, 1, kt, kKeys, p, kKeys, false);
      problem.finish_scores(sequence, task.head, task.first, queries, first, keys, p, kKeys);
      for (int64_t i = 0; i < queries; ++i) {
        weigh(p + i * kKeys, keys, most + i, all + i, o + i * dv, dv);
        if (problem.drop_mask == nullptr) continue;
        for (int64_t j = 0; j < keys; ++j) p[i * kKeys + j] *= problem.kept(s, task.head, task.first + i, first + j);
      }
      small_gemm(queries, dv, keys, p, kKeys, 1, v, dv, o, dv, true);
    }
    for (int64_t i = 0; i < queries; ++i) {
      const int64_t position = s.query_start + task.first + i;
      float* row = o + i * dv;
      const float inverse = all[i] > 0 ? 1 / all[i] : 0;  // where nothing is seen the result is 0
      for (int64_t j = 0; j < dv; ++j) row[j] *= inverse;
      out.write(row, b, task.head, position);
      maximum.write(most[i], b, task.head, position);
      sum.write(all[i], b, task.head, position);
      log_sum.write(all[i] > 0 ? most[i] + std::log(all[i]) : std::numeric_limits<float>::infinity(), b, task.head,
                    position);
    }
  }

  // Scores of a row become weights beside the greatest score so far; what was summed before is scaled to it.
  void weigh(float* scores, int64_t keys, float* most, float* all, float* o, int64_t channels) const {
    float greatest = *most;
    for (int64_t j = 0; j < keys; ++j) greatest = scores[j] > greatest || scores[j] != scores[j] ? scores[j] : greatest;
    if (greatest == kNone) return std::fill(scores, scores + keys, 0.0f);
    exponentials(exp, scores, keys, greatest);
    float added = 0;
    for (int64_t j = 0; j < keys; ++j) added += scores[j];
    if (greatest != *most) {
      const float before = *most == kNone ? 0 : std::exp(*most - greatest);
      *all *= before;
      for (int64_t j = 0; j < channels; ++j) o[j] *= before;
      *most = greatest;
    }
    *all += added;
  }
};

}  // namespace

Status read_row_numbers(const aclTensor* tensor, const char* role, const AttentionProblem& problem, RowNumbers* out) {
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
  SOFTNPU_RETURN_IF_ERROR(read_row_numbers(results.softmax_max, "softmaxMax", problem, &task->maximum));
  SOFTNPU_RETURN_IF_ERROR(read_row_numbers(results.softmax_sum, "softmaxSum", problem, &task->sum));
  SOFTNPU_RETURN_IF_ERROR(read_row_numbers(results.log_sum, "softmaxLse", problem, &task->log_sum));
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
  task->exp = map_kernel(MapOp::kExp, Wide::kF32);
  task->threads = threads_for(flops);
  plan->workspace_bytes = static_cast<uint64_t>(task->threads * task->floats()) * sizeof(float);
  plan->is_small = flops < kSmallFlops;
  plan->describe = describe_later({&arguments.query, &arguments.key});
  plan->run = [task = std::shared_ptr<const Forward>(std::move(task))](void* workspace) {
    task->run(static_cast<float*>(workspace));
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
