// Rows in the order of their experts, by ranges of experts, with capacities and quantization.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/nn/experts/experts.h"
#include "ops/nn/experts/order.h"
#include "ops/nn/experts/rows.h"
#include "ops/nn/quant/numbers.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

enum : int64_t { kNoQuant = -1, kStaticQuant = 0, kDynamicQuant = 1 };
enum : int64_t { kEnds = 0, kCounts = 1, kPairs = 2 };

struct RoutingTask {
  ExpertRows<float> x, expanded;
  IndexList experts, positions, counts;
  Numbers scale, offset;
  FlatWriter<float> expanded_scale;
  int64_t top_k = 1;
  int64_t start = 0, end = 0;
  int64_t expert_count = 0;
  int64_t capacity = 0;  // 0: rows are not padded
  int64_t counts_type = kEnds;
  bool has_counts = false;
  int64_t quant_mode = kNoQuant;
  bool gives_sources = false;

  Status run() const {
    const std::vector<int64_t> given = experts.read();
    std::vector<int64_t> keys(given.size());
    std::vector<int64_t> by_expert(static_cast<size_t>(end - start));
    for (size_t i = 0; i < given.size(); ++i) {
      const int64_t expert = given[i];
      if (expert >= expert_count) {
        return bad_experts(
            text("expertIdx: index ", expert, " is out of range: up to ", expert_count - 1, " are taken"));
      }
      const bool is_active = expert >= start && expert < end;
      keys[i] = is_active ? expert : end;
      if (is_active) ++by_expert[static_cast<size_t>(expert - start)];
    }
    const std::vector<int64_t> order = stable_order(keys);
    int64_t active = 0;
    for (const int64_t count : by_expert) active += count;
    std::vector<int64_t> source(static_cast<size_t>(expanded.rows), -1);  // of each row, an element of experts
    std::vector<int64_t> index(keys.size(), -1);
    int64_t within = 0;
    for (int64_t i = 0; i < active; ++i) {
      const int64_t element = order[static_cast<size_t>(i)];
      const int64_t expert = keys[static_cast<size_t>(element)];
      within = i > 0 && keys[static_cast<size_t>(order[static_cast<size_t>(i - 1)])] == expert ? within + 1 : 0;
      const bool is_dropped = capacity > 0 && within >= capacity;
      const int64_t row = capacity > 0 ? expert * capacity + within : i;
      if (!is_dropped && row < expanded.rows) source[static_cast<size_t>(row)] = element;
      index[static_cast<size_t>(gives_sources ? i : element)] = gives_sources ? element : is_dropped ? -1 : row;
    }
    positions.write(index);
    write_counts(by_expert);
    expand(source, keys);
    return Status::ok();
  }

 private:
  void write_counts(const std::vector<int64_t>& by_expert) const {
    std::vector<int64_t> values(static_cast<size_t>(counts.count()));
    int64_t sum = 0;
    size_t pair = 0;
    for (size_t i = 0; has_counts && i < by_expert.size(); ++i) {
      sum += by_expert[i];
      if (counts_type == kPairs && by_expert[i] > 0) {
        values[pair++] = start + static_cast<int64_t>(i);
        values[pair++] = by_expert[i];
      } else if (counts_type != kPairs) {
        values[i] = counts_type == kEnds ? sum : by_expert[i];
      }
    }
    counts.write(values);
  }

  void expand(const std::vector<int64_t>& source, const std::vector<int64_t>& keys) const {
    constexpr int64_t kGrain = 1 << 14;  // values of a slice
    const std::vector<float> factors = scale.read();
    const std::vector<float> shifts = offset.read();
    parallel_for(expanded.rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, x.length)),
                 threads_for(4 * static_cast<double>(expanded.rows) * static_cast<double>(x.length)),
                 [&](int64_t from, int64_t to) {
                   std::vector<float> buffer(static_cast<size_t>(x.length)), created(buffer.size());
                   for (int64_t i = from; i < to; ++i) {
                     const int64_t element = source[static_cast<size_t>(i)];
                     float by = 0;
                     if (element < 0) {
                       std::ranges::fill(created, 0.0F);
                     } else {
                       const float* const row = x.read(element / top_k, buffer.data());
                       by = quantize(row, factors, shifts, element, keys, &created);
                     }
                     expanded.write(i, created.data());
                     expanded_scale.put(i, 1, &by);
                   }
                 });
  }

  // Returns what expanded_scale has.
  float quantize(const float* row, const std::vector<float>& factors, const std::vector<float>& shifts, int64_t element,
                 const std::vector<int64_t>& keys, std::vector<float>* created) const {
    std::vector<float>& y = *created;
    if (quant_mode == kNoQuant) {
      std::copy_n(row, y.size(), y.data());
      return factors.empty() ? 0 : factors[static_cast<size_t>(element / top_k)];
    }
    if (quant_mode == kStaticQuant) {
      for (size_t c = 0; c < y.size(); ++c) y[c] = to_int8(row[c] * factors[0] + shifts[0]);
      return 0;
    }
    const bool is_one = factors.size() == y.size();
    const auto group = static_cast<size_t>(is_one ? 0 : keys[static_cast<size_t>(element)] - start);
    float most = 0;
    for (size_t c = 0; c < y.size(); ++c) {
      y[c] = factors.empty() ? row[c] : row[c] * factors[group * y.size() + c];
      most = std::max(most, std::abs(y[c]));
    }
    const float by = most / 127;
    for (float& value : y) value = to_int8(by > 0 ? value / by : value);
    return by;
  }
};

bool has(const aclTensor* tensor) { return tensor != nullptr && element_count(*tensor) > 0; }

Status check_numbers(const InitRoutingV3& o) {
  if (o.drop_pad != 0 && o.drop_pad != 1)
    return bad_experts(text("dropPadMode is ", o.drop_pad, ": 0 and 1 are taken"));
  if (o.counts_type < kEnds || o.counts_type > kPairs) {
    return bad_experts(text("expertTokensNumType is ", o.counts_type, ": 0, 1 and 2 are taken"));
  }
  if (o.quant_mode < kNoQuant || o.quant_mode > kDynamicQuant) {
    return bad_experts(text("quantMode is ", o.quant_mode, ": -1, 0 and 1 are taken"));
  }
  if (o.index_type != 0 && (o.index_type != 1 || o.drop_pad == 1)) {
    return bad_experts(text("rowIdxType is ", o.index_type, ": 0 is taken, and 1 with dropPadMode 0"));
  }
  if (o.expert_count <= 0) return bad_experts(text("expertNum is ", o.expert_count, ": 1 or more are taken"));
  if (o.drop_pad == 1 && o.capacity <= 0) {
    return bad_experts(text("expertCapacity is ", o.capacity, " with dropPadMode 1: 1 or more are taken"));
  }
  if (o.active < -1) return bad_experts(text("activeNum is ", o.active, ": -1 or more are taken"));
  if (o.range == nullptr || o.range->empty()) return Status::ok();
  const aclIntArray& range = *o.range;
  const bool fits = range.size() == 2 && range[0] >= 0 && range[0] < range[1] && range[1] <= o.expert_count;
  if (!fits || (o.drop_pad == 1 && range[1] - range[0] != o.expert_count)) {
    return bad_experts(text("activeExpertRange has ", range.size(), " numbers, the first ", range[0], ", the last ",
                            range[range.size() - 1], ", for ", o.expert_count,
                            " experts: a first one and an end are taken, with dropPadMode 1 of all"));
  }
  return Status::ok();
}

Status check_scale(const InitRoutingV3& o, int64_t range) {
  if (has(o.offset) != (o.quant_mode == kStaticQuant) || (o.quant_mode == kStaticQuant && !has(o.scale))) {
    return bad_experts("scale and offset are needed with quantMode 0; offset is not taken with others");
  }
  if (!has(o.scale)) return Status::ok();
  const int64_t count = element_count(*o.scale);
  const int64_t rows = o.x.dims[0];
  const int64_t length = o.x.dims[1];
  const bool fits = o.quant_mode == kNoQuant       ? count == rows
                    : o.quant_mode == kStaticQuant ? count == 1 && element_count(*o.offset) == 1
                                                   : o.scale->dims.size() == 2 && o.scale->dims[1] == length &&
                                                         (o.scale->dims[0] == 1 || o.scale->dims[0] == range);
  if (fits && o.scale->dtype == ACL_FLOAT) return Status::ok();
  return bad_experts(text("scale is ", describe(*o.scale), " with quantMode ", o.quant_mode, ": float32 [", rows,
                          "] is taken for -1, [1] for 0, [1, ", length, "] or [", range, ", ", length, "] for 1"));
}

Status open_rows(const aclTensor& tensor, const char* role, int64_t length, ExpertRows<float>* out) {
  FlatTensor flat;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(tensor, -1, role, &flat));
  out->length = length;
  out->rows = length == 0 ? 0 : element_count(tensor) / length;
  out->from = FlatReader<float>(flat);
  out->to = FlatWriter<float>(std::move(flat));
  out->is_there = true;
  return Status::ok();
}

Status check_sizes(const InitRoutingV3& o, int64_t range) {
  const bool is_value = o.x.dtype == ACL_FLOAT || is_half(o.x.dtype);
  const bool is_int8 = o.x.dtype == ACL_INT8 && o.quant_mode == kNoQuant;
  const aclDataType result = o.quant_mode == kNoQuant ? o.x.dtype : ACL_INT8;
  if ((!is_value && !is_int8) || o.expanded_x.dtype != result || o.expanded_scale.dtype != ACL_FLOAT) {
    return bad_experts(text("x is ", describe(o.x), " and expandedX ", describe(o.expanded_x), " with quantMode ",
                            o.quant_mode,
                            ": float16, bfloat16 and float32 are taken, and int8 with -1; one of 0 and 1 "
                            "gives int8"));
  }
  if (o.x.dims.size() != 2 || o.experts.dims.size() != 2 || o.experts.dims[0] != o.x.dims[0]) {
    return bad_experts(
        text("x is ", describe(o.x), " and expertIdx ", describe(o.experts), ": [N, H] and [N, K] are taken"));
  }
  const int64_t elements = element_count(o.experts);
  const Dims& dims = o.expanded_x.dims;
  const int64_t rows = o.active > 0 ? std::min(o.active, elements) : elements;
  const bool fits = o.drop_pad == 1 ? dims.size() == 3 && dims[0] == o.expert_count && dims[1] == o.capacity
                                    : dims.size() == 2 && dims[0] == rows;
  const int64_t all = o.drop_pad == 1 ? element_count(o.expanded_scale) : rows;
  const bool has_scales = o.drop_pad == 1 ? (checked(o.expert_count) * o.capacity).is(element_count(o.expanded_scale))
                                          : element_count(o.expanded_scale) == all;
  const bool has_counts = element_count(o.counts) == (o.counts_type == kPairs ? 2 * o.expert_count : range);
  if (!fits || dims.back() != o.x.dims[1] || element_count(o.positions) != elements || !has_counts || !has_scales) {
    return bad_experts(text("x is ", describe(o.x), ", expertIdx ", describe(o.experts), ", expandedX ",
                            describe(o.expanded_x), ", expandedRowIdx ", describe(o.positions), ", the counts ",
                            describe(o.counts), ", expandedScale ", describe(o.expanded_scale),
                            ": a row for each expert's element, or expertCapacity for each expert"));
  }
  return Status::ok();
}

}  // namespace

Status init_routing_v3(const InitRoutingV3& o, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_numbers(o));
  const bool has_range = o.range != nullptr && !o.range->empty();
  auto task = std::make_shared<RoutingTask>();
  task->start = has_range ? (*o.range)[0] : 0;
  task->end = has_range ? (*o.range)[1] : o.expert_count;
  SOFTNPU_RETURN_IF_ERROR(check_sizes(o, task->end - task->start));
  SOFTNPU_RETURN_IF_ERROR(check_scale(o, task->end - task->start));
  SOFTNPU_RETURN_IF_ERROR(open_rows(o.x, "x", o.x.dims[1], &task->x));
  SOFTNPU_RETURN_IF_ERROR(open_rows(o.expanded_x, "expandedX", o.x.dims[1], &task->expanded));
  SOFTNPU_RETURN_IF_ERROR(task->experts.make(o.experts, "expertIdx"));
  SOFTNPU_RETURN_IF_ERROR(task->positions.make(o.positions, "expandedRowIdx"));
  SOFTNPU_RETURN_IF_ERROR(task->counts.make(o.counts, "the counts"));
  SOFTNPU_RETURN_IF_ERROR(task->scale.make(o.scale, "scale"));
  SOFTNPU_RETURN_IF_ERROR(task->offset.make(o.offset, "offset"));
  FlatTensor scales;
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(o.expanded_scale, -1, "expandedScale", &scales));
  task->expanded_scale = FlatWriter<float>(std::move(scales));
  task->top_k = std::max<int64_t>(1, o.experts.dims[1]);
  task->expert_count = o.expert_count;
  task->capacity = o.drop_pad == 1 ? o.capacity : 0;
  task->counts_type = o.counts_type;
  task->has_counts = o.has_counts;
  task->quant_mode = o.quant_mode;
  task->gives_sources = o.index_type == 1;
  plan_experts(std::move(task), static_cast<double>(element_count(o.expanded_x) + element_count(o.experts)),
               {&o.x, &o.experts}, plan);
  return Status::ok();
}

}  // namespace softnpu
