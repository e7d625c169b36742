#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/tensor_memory.h"
#include "ops/nn/attention/attention.h"
#include "ops/nn/attention/blocks.h"
#include "ops/nn/attention/gemm.h"
#include "ops/nn/attention/score_block.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// The gradients. If there are enough heads and a head's gradients fit the cache: one pass over the heads. Otherwise two
// passes, over blocks of queries and over blocks of keys: each recomputes the weights, and blocks are independent.
struct Backward {
  AttentionProblem problem;
  Heads out_gradient, out, query_gradient, key_gradient, value_gradient;
  ScoreOperand bias_gradient;
  ElementWriter bias_writer;
  int64_t bias_sizes[4] = {};  // batch, heads, queries and keys of the bias
  float* sink_gradient = nullptr;
  int64_t sink_gradient_stride = 0;
  RowNumbers maximum, sum;
  std::vector<BlockTask> query_tasks, key_tasks, head_tasks;
  std::vector<BlockTask> plane_tasks;  // of a bias that is broadcast: its batch and head
  bool by_heads = false;
  int64_t queries = 0, keys = 0;  // of the longest sequence, in whole blocks
  MapKernel exp = nullptr;
  int threads = 1;

  int64_t channels() const { return padded(problem.query.channels); }
  int64_t columns() const { return padded(problem.value.channels); }
  // The buffers that all variants need.
  Checked block_floats() const { return checked(channels()) + columns() + 2 * kQueries * kKeys; }
  Checked head_floats() const {
    const Checked width = checked(channels()) + columns();
    return block_floats() + (width + channels() + 3) * queries + width * (checked(keys) + kKeys) +
           checked(std::max(channels(), columns())) * kQueries;
  }
  Checked floats() const {
    if (by_heads) return head_floats();
    const Checked plane = plane_tasks.empty() ? checked(0) : checked(bias_sizes[2]) * bias_sizes[3];
    return block_floats() + (checked(channels()) + columns()) * (2 * kQueries + 2 * kKeys) + 3 * kQueries + plane;
  }

  // The limit for the gradients of a head: the second-level cache.
  static constexpr int64_t kMaxFloats = int64_t{1} << 19;

  void choose_way() {
    by_heads = head_tasks.size() >= 2 * static_cast<size_t>(threads) && head_floats().fits() &&
               head_floats().value() <= kMaxFloats && bias_gradient.data == nullptr;
  }

  void run(float* workspace) const {
    const auto go = [&](const std::vector<BlockTask>& tasks, const auto& run_task) {
      run_tasks(tasks, threads, workspace, floats().value(), run_task);
    };
    if (sink_gradient != nullptr) write_sinks();
    if (by_heads) return go(head_tasks, [this](const BlockTask& task, Floats memory) { run_head(task, memory); });
    go(query_tasks, [this](const BlockTask& task, Floats memory) { run_queries(task, memory); });
    go(key_tasks, [this](const BlockTask& task, Floats memory) { run_keys(task, memory); });
    go(plane_tasks, [this](const BlockTask& task, Floats memory) { run_plane(task, memory); });
  }

  // The sum over a head's rows: a sink has no value, so that its score's gradient is its weight times -delta.
  void write_sinks() const {
    parallel_for_slots(problem.query.heads, 1, threads, [&](int64_t first, int64_t last, int /*slot*/) {
      std::vector<float> a(static_cast<size_t>(out.channels)), b(a.size());
      for (int64_t head = first; head < last; ++head)
        sink_gradient[head * sink_gradient_stride] = sink_sum(head, &a, &b);
    });
  }

  float sink_sum(int64_t head, std::vector<float>* line, std::vector<float>* got) const {
    double all = 0;
    for (size_t sequence = 0; sequence < problem.sequences.size(); ++sequence) {
      const Sequence& s = problem.sequences[sequence];
      const int64_t b = problem.batch_of(sequence);
      for (int64_t i = 0; i < s.query_length; ++i) {
        out.read(b, head, s.query_start + i, line->data());
        out_gradient.read(b, head, s.query_start + i, got->data());
        const double delta = std::inner_product(line->begin(), line->end(), got->begin(), 0.0);
        all -= delta * std::exp(problem.sink(head) - maximum.read(s, b, head, i)) / sum.read(s, b, head, i);
      }
    }
    return static_cast<float>(all);
  }

  // The data of a block of queries that both passes use. Transposed, [channel][query], with `width` floats per channel.
  struct Queries {
    float* qt;       // scaled
    float* got;      // the result's gradient
    float* delta;    // per query: dot product of that gradient and the result
    float* most;     // the greatest score
    float* inverse;  // 1 / sum of exponentials relative to `most`; 0 if no key is visible
    int64_t first = 0, count = 0, width = 0;
  };

  Queries take_queries(Floats* memory, int64_t first) const {
    return {memory->take(kQueries * channels()),
            memory->take(kQueries * columns()),
            memory->take(kQueries),
            memory->take(kQueries),
            memory->take(kQueries),
            first};
  }

  void load(const Sequence& s, int64_t b, int64_t head, Queries* block, float* line) const {
    block->count = std::min(kQueries, s.query_length - block->first);
    block->width = padded(block->count);
    const int64_t position = s.query_start + block->first;
    load_columns(problem.query, b, head, position, block->count, problem.scale, block->qt, block->width, line);
    load_columns(out_gradient, b, head, position, block->count, 1, block->got, block->width, line);
    std::fill(block->delta, block->delta + block->width, 0.0f);
    std::fill(block->most, block->most + block->width, 0.0f);
    std::fill(block->inverse, block->inverse + block->width, 0.0f);
    for (int64_t i = 0; i < block->count; ++i) {
      out.read(b, head, position + i, line);
      double product = 0;
      for (int64_t j = 0; j < out.channels; ++j) {
        product += static_cast<double>(line[j]) * block->got[j * block->width + i];
      }
      block->delta[i] = static_cast<float>(product);
      const float all = sum.read(s, b, head, block->first + i);
      if (!(all > 0)) continue;
      block->most[i] = maximum.read(s, b, head, block->first + i);
      block->inverse[i] = 1 / all;
    }
  }

  // Weights p (including dropped ones, scaled as dropout does) and gradients ds of the scores, both [key][query].
  void differentiate(size_t sequence, int64_t head, const Queries& block, int64_t first_key, int64_t keys,
                     const Rows& k, const Rows& v, float* p, float* ds) const {
    const Sequence& s = problem.sequences[sequence];
    const int64_t width = block.width;
    small_gemm(keys, width, problem.query.channels, k.data, k.row, k.column, block.qt, width, p, width, false);
    problem.finish_scores(sequence, head, block.first, block.count, first_key, keys, p, width, 1);
    weigh_scores(p, keys, width, block.most, block.inverse, exp);
    small_gemm(keys, width, problem.value.channels, v.data, v.row, v.column, block.got, width, ds, width, false);
    if (problem.drop_mask == nullptr) return differentiate_scores(p, ds, keys, width, block.delta);
    for (int64_t j = 0; j < keys; ++j) {
      for (int64_t i = 0; i < block.count; ++i) {
        const int64_t at = j * width + i;
        const float kept = problem.kept(s, head, block.first + i, first_key + j);
        ds[at] = p[at] * (kept * ds[at] - block.delta[i]);
        p[at] *= kept;
      }
    }
  }

  void run_queries(const BlockTask& task, Floats memory) const {
    const auto sequence = static_cast<size_t>(task.sequence);
    const Sequence& s = problem.sequences[sequence];
    const int64_t b = problem.batch_of(sequence);
    Queries block = take_queries(&memory, task.first);
    float* k_copy = memory.take(kKeys * channels());
    float* v_copy = memory.take(kKeys * columns());
    float* p = memory.take(kQueries * kKeys);
    float* ds = memory.take(kQueries * kKeys);
    float* dq = memory.take(kQueries * channels());
    float* line = memory.take(channels() + columns());
    load(s, b, task.head, &block, line);
    std::fill(dq, dq + kQueries * channels(), 0.0f);
    const int64_t key_head = problem.key_head(task.head);
    // The bias gradient is also written for masked scores.
    const bool all_keys = bias_gradient.data != nullptr && plane_tasks.empty();
    Span span = seen_by_block(problem, s, block.first, block.count);
    if (all_keys) span = {0, s.key_length, 0};
    for (int64_t first = span.first / kKeys * kKeys; first < span.last; first += kKeys) {
      const int64_t keys = std::min(kKeys, s.key_length - first);
      const Rows k = right_rows(problem.key, b, key_head, s.key_start + first, keys, k_copy);
      const Rows v = left_rows(problem.value, b, key_head, s.key_start + first, keys, v_copy);
      differentiate(sequence, task.head, block, first, keys, k, v, p, ds);
      if (all_keys) write_bias(b, task.head, block, first, keys, ds);
      small_gemm(block.count, channels(), keys, ds, 1, block.width, k.data, k.row, dq, channels(), true);
    }
    write_queries(dq, b, task.head, s.query_start + block.first, block.count);
  }

  void write_bias(int64_t b, int64_t head, const Queries& block, int64_t first_key, int64_t keys,
                  const float* ds) const {
    const float factor = problem.scales_bias ? problem.scale : 1;
    alignas(64) float line[kKeys];
    for (int64_t i = 0; i < block.count; ++i) {
      for (int64_t j = 0; j < keys; ++j) line[j] = factor * ds[j * block.width + i];
      bias_writer.write(line, static_cast<size_t>(keys),
                        bias_gradient.at(b, head, block.first + i) + first_key * bias_gradient.strides[3],
                        bias_gradient.strides[3]);
    }
  }

  // All scores that read one batch and head of a bias that is broadcast, one after the other.
  void run_plane(const BlockTask& task, Floats memory) const {
    const auto batch = static_cast<size_t>(task.sequence);
    const bool one_batch = bias_sizes[0] > 1, one_head = bias_sizes[1] > 1;
    const int64_t size = bias_sizes[2] * bias_sizes[3];
    float* plane = memory.take(size);
    std::fill(plane, plane + size, 0.0f);
    for (size_t sequence = one_batch ? batch : 0; sequence < (one_batch ? batch + 1 : problem.sequences.size());
         ++sequence) {
      for (int64_t head = one_head ? task.head : 0; head < (one_head ? task.head + 1 : problem.query.heads); ++head) {
        for (int64_t first = 0; first < problem.sequences[sequence].query_length; first += kQueries) {
          add_to_plane(sequence, head, first, memory, plane);
        }
      }
    }
    const int64_t* strides = bias_gradient.strides;
    for (int64_t i = 0; i < bias_sizes[2]; ++i) {
      bias_writer.write(plane + i * bias_sizes[3], static_cast<size_t>(bias_sizes[3]),
                        bias_gradient.data + task.sequence * strides[0] + task.head * strides[1] + i * strides[2],
                        strides[3]);
    }
  }

  void add_to_plane(size_t sequence, int64_t head, int64_t first_query, Floats memory, float* plane) const {
    const Sequence& s = problem.sequences[sequence];
    const int64_t b = problem.batch_of(sequence);
    Queries block = take_queries(&memory, first_query);
    float* k_copy = memory.take(kKeys * channels());
    float* v_copy = memory.take(kKeys * columns());
    float* p = memory.take(kQueries * kKeys);
    float* ds = memory.take(kQueries * kKeys);
    float* line = memory.take(channels() + columns());
    load(s, b, head, &block, line);
    const int64_t key_head = problem.key_head(head);
    const int64_t rows = bias_sizes[2], columns_of_bias = bias_sizes[3];
    const float factor = problem.scales_bias ? problem.scale : 1;
    const Span span = seen_by_block(problem, s, block.first, block.count);
    for (int64_t first = span.first / kKeys * kKeys; first < span.last; first += kKeys) {
      const int64_t here = std::min(kKeys, s.key_length - first);
      const Rows k = left_rows(problem.key, b, key_head, s.key_start + first, here, k_copy);
      const Rows v = left_rows(problem.value, b, key_head, s.key_start + first, here, v_copy);
      differentiate(sequence, head, block, first, here, k, v, p, ds);
      for (int64_t i = 0; i < block.count; ++i) {
        const int64_t query = block.first + i;
        const int64_t shift = problem.bias.shift(query);
        const int64_t row = rows == 1 ? 0 : std::max<int64_t>(query - problem.bias.absent_rows, 0);
        float* to = plane + row * columns_of_bias;
        // Keys beyond the row of a compressed bias are masked.
        const int64_t last = std::min(here, columns_of_bias == 1 ? here : columns_of_bias - shift - first);
        for (int64_t j = 0; j < last; ++j)
          to[columns_of_bias == 1 ? 0 : first + j + shift] += factor * ds[j * block.width + i];
      }
    }
  }

  // All of one key head, with the query heads that use it.
  void run_head(const BlockTask& task, Floats memory) const {
    const auto sequence = static_cast<size_t>(task.sequence);
    const Sequence& s = problem.sequences[sequence];
    const int64_t b = problem.batch_of(sequence);
    const int64_t count = (s.query_length + kQueries - 1) / kQueries;
    float* k_copy = memory.take(kKeys * channels());
    float* v_copy = memory.take(kKeys * columns());
    float* rows = memory.take(kQueries * std::max(channels(), columns()));
    float* p = memory.take(kQueries * kKeys);
    float* ds = memory.take(kQueries * kKeys);
    float* line = memory.take(channels() + columns());
    float* dk = memory.take(keys * channels());
    float* dv = memory.take(keys * columns());
    float* dq = memory.take(queries * channels());
    std::fill(dk, dk + s.key_length * channels(), 0.0f);
    std::fill(dv, dv + s.key_length * columns(), 0.0f);
    const int64_t group = problem.query.heads / problem.key.heads;
    for (int64_t head = task.head * group; head < (task.head + 1) * group; ++head) {
      Floats blocks_memory = memory;
      std::vector<Queries> blocks;
      blocks.reserve(static_cast<size_t>(count));
      for (int64_t i = 0; i < count; ++i) {
        blocks.push_back(take_queries(&blocks_memory, i * kQueries));
        load(s, b, head, &blocks.back(), line);
      }
      std::fill(dq, dq + s.query_length * channels(), 0.0f);
      for (int64_t first = 0; first < s.key_length; first += kKeys) {
        const int64_t here = std::min(kKeys, s.key_length - first);
        const Rows k = right_rows(problem.key, b, task.head, s.key_start + first, here, k_copy);
        const Rows v = left_rows(problem.value, b, task.head, s.key_start + first, here, v_copy);
        for (const Queries& block : blocks) {
          const Span span = seen_by_block(problem, s, block.first, block.count);
          if (span.last <= first || span.first >= first + here) continue;
          differentiate(sequence, head, block, first, here, k, v, p, ds);
          add_to_keys(b, head, s.query_start, block, here, p, ds, rows, dk + first * channels(),
                      dv + first * columns());
          small_gemm(block.count, channels(), here, ds, 1, block.width, k.data, k.row, dq + block.first * channels(),
                     channels(), true);
        }
      }
      write_queries(dq, b, head, s.query_start, s.query_length);
    }
    write_keys(dk, dv, b, task.head, s.key_start, s.key_length);
  }

  // Adds a block of queries' contribution to the gradients of `keys` keys and values.
  void add_to_keys(int64_t b, int64_t head, int64_t query_start, const Queries& block, int64_t keys, const float* p,
                   const float* ds, float* rows, float* dk, float* dv) const {
    const int64_t position = query_start + block.first;
    const Rows go = right_rows(out_gradient, b, head, position, block.count, rows);
    small_gemm(keys, columns(), block.count, p, block.width, 1, go.data, go.row, dv, columns(), true);
    const Rows q = right_rows(problem.query, b, head, position, block.count, rows);
    small_gemm(keys, channels(), block.count, ds, block.width, 1, q.data, q.row, dk, channels(), true);
  }

  void write_queries(float* dq, int64_t b, int64_t head, int64_t position, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) {
      float* row = dq + i * channels();
      for (int64_t j = 0; j < channels(); ++j) row[j] *= problem.scale;
      query_gradient.write(row, b, head, position + i);
    }
  }

  void write_keys(float* dk, const float* dv, int64_t b, int64_t head, int64_t position, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) {
      float* row = dk + i * channels();
      for (int64_t j = 0; j < channels(); ++j) row[j] *= problem.scale;
      key_gradient.write(row, b, head, position + i);
      value_gradient.write(dv + i * columns(), b, head, position + i);
    }
  }

  void run_keys(const BlockTask& task, Floats memory) const {
    const auto sequence = static_cast<size_t>(task.sequence);
    const Sequence& s = problem.sequences[sequence];
    const int64_t b = problem.batch_of(sequence);
    const int64_t keys = std::min(kKeys, s.key_length - task.first);
    Queries block = take_queries(&memory, 0);
    float* k_copy = memory.take(kKeys * channels());
    float* v_copy = memory.take(kKeys * columns());
    float* rows = memory.take(kQueries * std::max(channels(), columns()));
    float* p = memory.take(kQueries * kKeys);
    float* ds = memory.take(kQueries * kKeys);
    float* dk = memory.take(kKeys * channels());
    float* dv = memory.take(kKeys * columns());
    float* line = memory.take(channels() + columns());
    const Rows k = left_rows(problem.key, b, task.head, s.key_start + task.first, keys, k_copy);
    const Rows v = left_rows(problem.value, b, task.head, s.key_start + task.first, keys, v_copy);
    std::fill(dk, dk + kKeys * channels(), 0.0f);
    std::fill(dv, dv + kKeys * columns(), 0.0f);
    const int64_t group = problem.query.heads / problem.key.heads;
    for (int64_t head = task.head * group; head < (task.head + 1) * group; ++head) {
      for (block.first = 0; block.first < s.query_length; block.first += kQueries) {
        const Span span = seen_by_block(problem, s, block.first, std::min(kQueries, s.query_length - block.first));
        if (span.last <= task.first || span.first >= task.first + keys) continue;
        load(s, b, head, &block, line);
        differentiate(sequence, head, block, task.first, keys, k, v, p, ds);
        add_to_keys(b, head, s.query_start, block, keys, p, ds, rows, dk, dv);
      }
    }
    write_keys(dk, dv, b, task.head, s.key_start + task.first, keys);
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

Status read_bias_gradient(const aclTensor* tensor, const aclTensor* bias, Backward* task) {
  const AttentionProblem& problem = task->problem;
  if (tensor == nullptr || element_count(*tensor) == 0 || problem.bias.data == nullptr) return Status::ok();
  if (!std::ranges::equal(tensor->dims, bias->dims)) {
    return {ACLNN_ERR_PARAM_INVALID, text("dpse is ", describe(*tensor), " for the pse ", describe(*bias))};
  }
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(*tensor, "dpse", &data));
  task->bias_gradient.data = static_cast<char*>(data);
  const size_t n = tensor->dims.size();
  std::ranges::fill(task->bias_sizes, 1);
  for (size_t i = 0; i < n; ++i) {
    const size_t k = n == 3 && i == 0 ? 0 : i + 4 - n;
    task->bias_sizes[k] = tensor->dims[i];
    task->bias_gradient.strides[k] = tensor->strides[i] * static_cast<int64_t>(aclDataTypeSize(tensor->dtype));
  }
  task->bias_writer = ElementWriter(ACL_FLOAT, tensor->dtype);
  if (problem.bias.is_full && !problem.is_packed && problem.bias.absent_rows == 0) return Status::ok();
  for (int64_t b = 0; b < task->bias_sizes[0]; ++b) {
    for (int64_t head = 0; head < task->bias_sizes[1]; ++head) {
      task->plane_tasks.push_back({static_cast<int32_t>(b), static_cast<int32_t>(head), 0});
    }
  }
  return Status::ok();
}

Status read_sink_gradient(const aclTensor* tensor, Backward* task) {
  if (tensor == nullptr || element_count(*tensor) == 0 || task->problem.sinks == nullptr) return Status::ok();
  return read_sinks(*tensor, "dsink", task->problem.query.heads, &task->sink_gradient, &task->sink_gradient_stride);
}

}  // namespace

Status attention_grad(const AttentionArguments& arguments, const AttentionGradients& gradients, Plan* plan) {
  for (const aclTensor* rope : {arguments.query_rope, arguments.key_rope}) {
    if (rope == nullptr || element_count(*rope) == 0) continue;
    return {ACLNN_ERR_PARAM_INVALID, "queryRope or keyRope is given; append its channels to query and key"};
  }
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
  bool is_by_sequence = false;
  SOFTNPU_RETURN_IF_ERROR(softmax_is_by_sequence(arguments, problem, &is_by_sequence));
  SOFTNPU_RETURN_IF_ERROR(
      read_row_numbers(gradients.softmax_max, "softmaxMax", problem, is_by_sequence, &task->maximum));
  SOFTNPU_RETURN_IF_ERROR(read_row_numbers(gradients.softmax_sum, "softmaxSum", problem, is_by_sequence, &task->sum));
  if (element_count(arguments.query) > 0 && (task->maximum.data == nullptr || task->sum.data == nullptr)) {
    return {ACLNN_ERR_PARAM_INVALID, "softmaxMax and softmaxSum are needed, as the forward pass has left them"};
  }
  SOFTNPU_RETURN_IF_ERROR(read_bias_gradient(gradients.bias, arguments.bias, task.get()));
  SOFTNPU_RETURN_IF_ERROR(read_sink_gradient(gradients.sink, task.get()));
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
    task->queries = std::max(task->queries, (s.query_length + kQueries - 1) / kQueries * kQueries);
    task->keys = std::max(task->keys, (s.key_length + kKeys - 1) / kKeys * kKeys);
    for (int64_t head = 0; head < problem.key.heads; ++head) {
      task->head_tasks.push_back({static_cast<int32_t>(i), static_cast<int32_t>(head), 0});
      for (int64_t first = 0; first < s.key_length; first += kKeys) {
        task->key_tasks.push_back({static_cast<int32_t>(i), static_cast<int32_t>(head), first});
      }
    }
  }
  task->exp = map_kernel(MapOp::kExp, ComputeType::kF32);
  task->threads = threads_for(flops);
  task->choose_way();
  plan->workspace_bytes = task->floats() * task->threads * sizeof(float);
  plan->work = flops;
  plan->describe = describe_later({&arguments.query, &arguments.key});
  plan->run = [task = std::shared_ptr<const Backward>(std::move(task))](void* workspace) {
    task->run(static_cast<float*>(workspace));
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
