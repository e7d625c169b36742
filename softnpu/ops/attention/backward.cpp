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

// The gradients in two passes, one over blocks of queries, one over blocks of keys: each computes the weights again,
// and no block waits for another's sum.
struct Backward {
  AttentionProblem problem;
  Heads out_gradient, out, query_gradient, key_gradient, value_gradient;
  ScoreOperand bias_gradient;
  ElementWriter bias_writer;
  RowNumbers maximum, sum;
  std::vector<BlockTask> query_tasks, key_tasks;
  MapKernel exp = nullptr;
  int threads = 1;

  int64_t channels() const { return padded(problem.query.channels); }
  int64_t columns() const { return padded(problem.value.channels); }
  int64_t floats() const {
    return (2 * kQueries + 3 * kKeys) * (channels() + columns()) + 2 * kQueries * kKeys + kQueries + channels() +
           columns();
  }

  void run(float* workspace) const {
    parallel_for(static_cast<int64_t>(query_tasks.size()), 1, threads, [&](int64_t first, int64_t last) {
      float* own = workspace + omp_get_thread_num() * floats();
      for (int64_t i = first; i < last; ++i) run_queries(query_tasks[static_cast<size_t>(i)], Floats(own));
    });
    parallel_for(static_cast<int64_t>(key_tasks.size()), 1, threads, [&](int64_t first, int64_t last) {
      float* own = workspace + omp_get_thread_num() * floats();
      for (int64_t i = first; i < last; ++i) run_keys(key_tasks[static_cast<size_t>(i)], Floats(own));
    });
  }

  // What both passes know of a block of queries.
  struct Queries {
    float* q;      // [queries][channels]
    float* go;     // [queries][columns]: the result's gradient
    float* delta;  // of each query: that gradient times the result
    int64_t first = 0, count = 0;
  };

  void load(const Sequence& s, int64_t b, int64_t head, Queries* block, float* line) const {
    block->count = std::min(kQueries, s.query_length - block->first);
    const int64_t position = s.query_start + block->first;
    load_rows(problem.query, b, head, position, block->count, block->q, channels());
    load_rows(out_gradient, b, head, position, block->count, block->go, columns());
    for (int64_t i = 0; i < block->count; ++i) {
      out.read(b, head, position + i, line);
      const float* gradient = block->go + i * columns();
      double product = 0;
      for (int64_t j = 0; j < out.channels; ++j) product += static_cast<double>(line[j]) * gradient[j];
      block->delta[i] = static_cast<float>(product);
    }
  }

  // Weights p (dropped ones among them as they are after dropout) and gradients ds of the scores, from the transposed
  // keys and values.
  void differentiate(size_t sequence, int64_t head, const Queries& block, int64_t first_key, int64_t keys,
                     const float* kt, const float* vt, float* p, float* ds) const {
    const Sequence& s = problem.sequences[sequence];
    const int64_t b = problem.batch_of(sequence);
    small_gemm(block.count, padded(keys), problem.query.channels, block.q, channels(), 1, kt, kKeys, p, kKeys, false);
    problem.finish_scores(sequence, head, block.first, block.count, first_key, keys, p, kKeys);
    small_gemm(block.count, padded(keys), problem.value.channels, block.go, columns(), 1, vt, kKeys, ds, kKeys, false);
    for (int64_t i = 0; i < block.count; ++i) {
      float* weights = p + i * kKeys;
      float* gradients = ds + i * kKeys;
      const int64_t position = s.query_start + block.first + i;
      const float all = sum.read(b, head, position);
      if (!(all > 0)) {
        std::fill(weights, weights + keys, 0.0f);
        std::fill(gradients, gradients + keys, 0.0f);
        continue;
      }
      exponentials(exp, weights, keys, maximum.read(b, head, position));
      const float inverse = 1 / all;
      for (int64_t j = 0; j < keys; ++j) {
        const float kept = problem.kept(s, head, block.first + i, first_key + j);
        const float weight = weights[j] * inverse;
        gradients[j] = weight * (kept * gradients[j] - block.delta[i]);
        weights[j] = weight * kept;
      }
    }
  }

  void run_queries(const BlockTask& task, Floats memory) const {
    const auto sequence = static_cast<size_t>(task.sequence);
    const Sequence& s = problem.sequences[sequence];
    const int64_t b = problem.batch_of(sequence);
    Queries block{memory.take(kQueries * channels()), memory.take(kQueries * columns()), memory.take(kQueries),
                  task.first, 0};
    float* kt = memory.take(channels() * kKeys);
    float* vt = memory.take(columns() * kKeys);
    float* k = memory.take(kKeys * channels());
    float* p = memory.take(kQueries * kKeys);
    float* ds = memory.take(kQueries * kKeys);
    float* dq = memory.take(kQueries * channels());
    float* line = memory.take(channels() + columns());
    load(s, b, task.head, &block, line);
    std::fill(dq, dq + kQueries * channels(), 0.0f);
    const int64_t key_head = problem.key_head(task.head);
    // The gradient of a bias is written where nothing is seen, too.
    const bool all_keys = bias_gradient.data != nullptr;
    Span span = seen_by_block(problem, s, block.first, block.count);
    if (all_keys) span = {0, s.key_length, 0};
    for (int64_t first = span.first / kKeys * kKeys; first < span.last; first += kKeys) {
      const int64_t keys = std::min(kKeys, s.key_length - first);
      load_columns(problem.key, b, key_head, s.key_start + first, keys, kt, kKeys, line);
      load_columns(problem.value, b, key_head, s.key_start + first, keys, vt, kKeys, line);
      load_rows(problem.key, b, key_head, s.key_start + first, keys, k, channels());
      differentiate(sequence, task.head, block, first, keys, kt, vt, p, ds);
      if (all_keys) write_bias(b, task.head, block, first, keys, ds, p);
      small_gemm(block.count, channels(), keys, ds, kKeys, 1, k, channels(), dq, channels(), true);
    }
    for (int64_t i = 0; i < block.count; ++i) {
      float* row = dq + i * channels();
      for (int64_t j = 0; j < channels(); ++j) row[j] *= problem.scale;
      query_gradient.write(row, b, task.head, s.query_start + block.first + i);
    }
  }

  // `scaled` may be overwritten.
  void write_bias(int64_t b, int64_t head, const Queries& block, int64_t first_key, int64_t keys, const float* ds,
                  float* scaled) const {
    const float factor = problem.scales_bias ? problem.scale : 1;
    for (int64_t i = 0; i < block.count; ++i) {
      for (int64_t j = 0; j < keys; ++j) scaled[j] = factor * ds[i * kKeys + j];
      bias_writer.write(scaled, static_cast<size_t>(keys),
                        bias_gradient.at(b, head, block.first + i) + first_key * bias_gradient.strides[3],
                        bias_gradient.strides[3]);
    }
  }

  void run_keys(const BlockTask& task, Floats memory) const {
    const auto sequence = static_cast<size_t>(task.sequence);
    const Sequence& s = problem.sequences[sequence];
    const int64_t b = problem.batch_of(sequence);
    const int64_t keys = std::min(kKeys, s.key_length - task.first);
    Queries block{memory.take(kQueries * channels()), memory.take(kQueries * columns()), memory.take(kQueries), 0, 0};
    float* kt = memory.take(channels() * kKeys);
    float* vt = memory.take(columns() * kKeys);
    float* p = memory.take(kQueries * kKeys);
    float* ds = memory.take(kQueries * kKeys);
    float* dk = memory.take(kKeys * channels());
    float* dv = memory.take(kKeys * columns());
    float* line = memory.take(channels() + columns());
    load_columns(problem.key, b, task.head, s.key_start + task.first, keys, kt, kKeys, line);
    load_columns(problem.value, b, task.head, s.key_start + task.first, keys, vt, kKeys, line);
    std::fill(dk, dk + kKeys * channels(), 0.0f);
    std::fill(dv, dv + kKeys * columns(), 0.0f);
    const int64_t group = problem.query.heads / problem.key.heads;
    for (int64_t head = task.head * group; head < (task.head + 1) * group; ++head) {
      for (block.first = 0; block.first < s.query_length; block.first += kQueries) {
        const Span span = seen_by_block(problem, s, block.first, std::min(kQueries, s.query_length - block.first));
        if (span.last <= task.first || span.first >= task.first + keys) continue;
        load(s, b, head, &block, line);
        differentiate(sequence, head, block, task.first, keys, kt, vt, p, ds);
        small_gemm(keys, columns(), block.count, p, 1, kKeys, block.go, columns(), dv, columns(), true);
        small_gemm(keys, channels(), block.count, ds, 1, kKeys, block.q, channels(), dk, channels(), true);
      }
    }
    for (int64_t i = 0; i < keys; ++i) {
      float* row = dk + i * channels();
      for (int64_t j = 0; j < channels(); ++j) row[j] *= problem.scale;
      key_gradient.write(row, b, task.head, s.key_start + task.first + i);
      value_gradient.write(dv + i * columns(), b, task.head, s.key_start + task.first + i);
    }
  }
};

bool same_sizes(const Heads& a, const Heads& b) {
  return a.batch == b.batch && a.heads == b.heads && a.length == b.length && a.channels == b.channels;
}

Status read_like(const aclTensor& tensor, const char* role, const char* layout, const Heads& like, int64_t channels,
                 Heads* out) {
  SOFTNPU_RETURN_IF_ERROR(read_heads(tensor, role, layout, like.heads, out));
  Heads wanted = like;
  wanted.channels = channels;
  if (same_sizes(*out, wanted)) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text(role, " is ", describe(tensor), ", which is not of the shape that it needs")};
}

Status read_bias_gradient(const aclTensor* tensor, Backward* task) {
  if (tensor == nullptr || element_count(*tensor) == 0 || task->problem.bias.data == nullptr) return Status::ok();
  const AttentionProblem& problem = task->problem;
  const int64_t wanted[] = {problem.query.batch, problem.query.heads, problem.query.length, problem.key.length};
  if (problem.is_packed || !problem.bias.is_full || !std::ranges::equal(tensor->dims, wanted)) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("dpse is ", describe(*tensor), "; the gradient of a pse that is broadcast or of ",
                 "the layout TND is not computed: expand it to ", describe_shape(wanted))};
  }
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(*tensor, "dpse", &data));
  task->bias_gradient.data = static_cast<char*>(data);
  for (size_t i = 0; i < 4; ++i) {
    task->bias_gradient.strides[i] = tensor->strides[i] * static_cast<int64_t>(aclDataTypeSize(tensor->dtype));
  }
  task->bias_writer = ElementWriter(ACL_FLOAT, tensor->dtype);
  return Status::ok();
}

}  // namespace

Status attention_grad(const AttentionArguments& arguments, const AttentionGradients& gradients, Plan* plan) {
  auto task = std::make_shared<Backward>();
  AttentionProblem& problem = task->problem;
  SOFTNPU_RETURN_IF_ERROR(read_attention(arguments, &problem));
  SOFTNPU_RETURN_IF_ERROR(not_null(gradients.out, "attentionIn"));
  SOFTNPU_RETURN_IF_ERROR(not_null(gradients.softmax_max, "softmaxMax"));
  SOFTNPU_RETURN_IF_ERROR(not_null(gradients.softmax_sum, "softmaxSum"));
  const char* layout = arguments.layout;
  const int64_t channels = problem.query.channels;
  const int64_t columns = problem.value.channels;
  SOFTNPU_RETURN_IF_ERROR(read_like(gradients.out_gradient, "dy", layout, problem.query, columns, &task->out_gradient));
  SOFTNPU_RETURN_IF_ERROR(read_like(*gradients.out, "attentionIn", layout, problem.query, columns, &task->out));
  SOFTNPU_RETURN_IF_ERROR(read_like(gradients.query, "dq", layout, problem.query, channels, &task->query_gradient));
  SOFTNPU_RETURN_IF_ERROR(read_like(gradients.key, "dk", layout, problem.key, channels, &task->key_gradient));
  SOFTNPU_RETURN_IF_ERROR(read_like(gradients.value, "dv", layout, problem.value, columns, &task->value_gradient));
  SOFTNPU_RETURN_IF_ERROR(read_row_numbers(gradients.softmax_max, "softmaxMax", problem, &task->maximum));
  SOFTNPU_RETURN_IF_ERROR(read_row_numbers(gradients.softmax_sum, "softmaxSum", problem, &task->sum));
  if (element_count(arguments.query) > 0 && (task->maximum.data == nullptr || task->sum.data == nullptr)) {
    return {ACLNN_ERR_PARAM_INVALID, "softmaxMax and softmaxSum are needed, as the forward pass has left them"};
  }
  SOFTNPU_RETURN_IF_ERROR(read_bias_gradient(gradients.bias, task.get()));
  double flops = 0;
  for (size_t i = 0; i < problem.sequences.size(); ++i) {
    const Sequence& s = problem.sequences[i];
    flops += 7.0 * static_cast<double>(s.query_length) * static_cast<double>(s.key_length) *
             static_cast<double>(problem.query.heads * (channels + columns));
    for (int64_t head = 0; head < problem.query.heads; ++head) {
      for (int64_t first = 0; first < s.query_length; first += kQueries) {
        task->query_tasks.push_back({static_cast<int32_t>(i), static_cast<int32_t>(head), first});
      }
    }
    for (int64_t head = 0; head < problem.key.heads; ++head) {
      for (int64_t first = 0; first < s.key_length; first += kKeys) {
        task->key_tasks.push_back({static_cast<int32_t>(i), static_cast<int32_t>(head), first});
      }
    }
  }
  task->exp = map_kernel(MapOp::kExp, Wide::kF32);
  task->threads = threads_for(flops);
  plan->workspace_bytes = static_cast<uint64_t>(task->threads * task->floats()) * sizeof(float);
  plan->is_small = flops < kSmallFlops;
  plan->describe = describe_later({&arguments.query, &arguments.key});
  plan->run = [task = std::shared_ptr<const Backward>(std::move(task))](void* workspace) {
    task->run(static_cast<float*>(workspace));
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
