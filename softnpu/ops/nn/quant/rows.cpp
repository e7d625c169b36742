#include <array>
#include <cmath>
#include <memory>
#include <string_view>

#include "ops/core/nothing.h"
#include "ops/nn/quant/numbers.h"
#include "ops/nn/quant/operators.h"
#include "ops/nn/quant/row_kernels.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr int64_t kGrain = 1 << 14;  // values per piece
constexpr double kFlopsPerValue = 8;

// Corresponding rows of two tensors of the same shape.
struct RowPair {
  int64_t rows = 0;
  int64_t length = 0;
  FlatReader<float> from;
  FlatWriter<float> to;

  Status make(const aclTensor& x, const aclTensor& y) {
    if (x.dims.empty() || x.dims != y.dims) {
      return no_quantization(text("values ", describe(x), " and result ", describe(y), " have not one shape"));
    }
    length = x.dims[x.dims.size() - 1];
    rows = length == 0 ? 0 : element_count(x) / length;
    FlatTensor flat;
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(x, -1, "the values", &flat));
    from = FlatReader<float>(flat);
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(y, -1, "the result", &flat));
    to = FlatWriter<float>(flat);
    return Status::ok();
  }
  double flops() const { return kFlopsPerValue * static_cast<double>(rows) * static_cast<double>(length); }

  // Calls body(row, values, buffer for results), and writes the results.
  template <typename Body>
  void for_rows(const Body& body) const {
    if (rows == 0) return;
    parallel_for(rows, std::max<int64_t>(1, kGrain / length), threads_for(flops()), [&](int64_t first, int64_t last) {
      std::vector<float> in(static_cast<size_t>(length));
      std::vector<float> out(static_cast<size_t>(length));
      for (int64_t row = first; row < last; ++row) {
        body(row, from.read(row * length, length, in.data()), out.data());
        to.put(row * length, length, out.data());
      }
    });
  }
};

struct DynamicTask {
  RowPair pair;
  Numbers smooth, group_index;
  FlatWriter<float> scale;
  FlatWriter<float> offset;
  bool has_offset = false;

  Status run() const {
    const std::vector<float> factors = smooth.read();
    std::vector<float> ends = group_index.read();
    if (!std::is_sorted(ends.begin(), ends.end())) return no_quantization("groupIndex falls");
    pair.for_rows([&](int64_t row, const float* x, float* y) {
      if (!factors.empty()) {
        const auto group = std::upper_bound(ends.begin(), ends.end(), static_cast<float>(row)) - ends.begin();
        // Rows after the last group use the last one's factors.
        const int64_t set = std::min<int64_t>(group, static_cast<int64_t>(factors.size()) / pair.length - 1);
        const float* const f = factors.data() + set * pair.length;
        for (int64_t i = 0; i < pair.length; ++i) y[i] = x[i] * f[i];
        x = y;
      }
      quantize(row, x, y);
    });
    return Status::ok();
  }

 private:
  void quantize(int64_t row, const float* x, float* y) const {
    const auto count = static_cast<size_t>(pair.length);
    const auto [least, most] = kernels_.range(x, count);
    const float by = has_offset ? (most - least) / 255 : std::max(most, -least) / 127;
    const float shift = has_offset && by > 0 ? 127 - most / by : 0;
    scale.put(row, 1, &by);
    if (has_offset) offset.put(row, 1, &shift);
    kernels_.divide(x, count, by > 0 ? by : 1, shift, y);
  }

  QuantRowKernels kernels_ = quant_row_kernels();
};

using Round = float (*)(float);

float whole(float value) { return value; }

// The rounding before to_int8, which rounds to nearest.
Status round_of(const char* name, Round* out) {
  const std::string_view message = name == nullptr ? "" : name;
  const std::array<std::pair<std::string_view, Round>, 4> known = {
      {{"round", whole}, {"floor", std::floor}, {"ceil", std::ceil}, {"trunc", std::trunc}}};
  for (const auto& [mode, function] : known) {
    if (mode != message) continue;
    *out = function;
    return Status::ok();
  }
  return no_quantization(text("round mode '", message, "' does not exist: it is round, floor, ceil or trunc"));
}

// Scales and offsets of a dimension, or one for all.
struct Affine {
  Numbers scale, offset;
  bool square = false;
  int64_t length = 1;  // of the dimension

  Status make(const aclTensor& scales, const aclTensor* offsets, bool square_scale, int64_t size) {
    SOFTNPU_RETURN_IF_ERROR(scale.make(&scales, "the scale"));
    SOFTNPU_RETURN_IF_ERROR(offset.make(offsets, "the offset"));
    square = square_scale;
    length = size;
    const bool fits =
        (scale.count() == 1 || scale.count() == length) && (offset.count() <= 1 || offset.count() == length);
    if (fits) return Status::ok();
    return no_quantization(text("the scale is ", describe(scales), ", where 1 or ", length,
                                " elements are needed, and as many of the offset"));
  }
  std::vector<float> scales() const {
    std::vector<float> values = scale.spread(length, 1);
    for (float& value : values) value *= square ? value : 1;
    return values;
  }
};

template <typename Task>
Status finish(std::shared_ptr<Task> task, const RowPair& pair, const aclTensor& x, Plan* plan) {
  if (pair.rows == 0) {
    *plan = no_work();
    return Status::ok();
  }
  plan->work = pair.flops();
  plan->describe = describe_later({&x});
  plan->run = [task = std::shared_ptr<const Task>(std::move(task))](void*) { return task->run(); };
  return Status::ok();
}

struct StaticTask {
  RowPair pair;
  Affine affine;
  Round round = whole;
  bool along_rows = false;  // one scale per row

  Status run() const {
    const std::vector<float> scales = affine.scales();
    const std::vector<float> offsets = affine.offset.spread(affine.length, 0);
    pair.for_rows([&](int64_t row, const float* x, float* y) {
      const int64_t step = along_rows ? 0 : 1;
      const int64_t first = along_rows ? row % affine.length : 0;
      const float* const a = scales.data() + first;
      const float* const b = offsets.data() + first;
      if (step == 1 && round == whole) return kernels_.scale(x, a, b, static_cast<size_t>(pair.length), y);
      for (int64_t i = 0; i < pair.length; ++i) y[i] = x[i] * a[i * step] + b[i * step];
      for (int64_t i = 0; round != whole && i < pair.length; ++i) y[i] = round(y[i]);
      for (int64_t i = 0; i < pair.length; ++i) y[i] = to_int8(y[i]);
    });
    return Status::ok();
  }

 private:
  QuantRowKernels kernels_ = quant_row_kernels();
};

// x / scale + offset: a scale for each index of one dimension.
struct QuantizeTask {
  RowPair pair;
  Affine affine;
  Whole type = kInt8;
  int64_t rows_of_one = 0;  // consecutive rows with one scale; 0: the scales are those of a row

  Status run() const {
    const std::vector<float> scales = affine.scales();
    const std::vector<float> offsets = affine.offset.spread(affine.length, 0);
    pair.for_rows([&](int64_t row, const float* x, float* y) {
      const int64_t step = rows_of_one > 0 ? 0 : 1;
      const int64_t first = rows_of_one > 0 ? row / rows_of_one % affine.length : 0;
      const float* const a = scales.data() + first;
      const float* const b = offsets.data() + first;
      for (int64_t i = 0; i < pair.length; ++i) y[i] = to_whole(x[i] / a[i * step] + b[i * step], type);
    });
    return Status::ok();
  }
};

struct AntiTask {
  RowPair pair;
  Affine affine;

  Status run() const {
    const std::vector<float> scales = affine.scales();
    const std::vector<float> offsets = affine.offset.spread(affine.length, 0);
    pair.for_rows([&](int64_t, const float* x, float* y) {
      for (int64_t i = 0; i < pair.length; ++i) {
        y[i] = (x[i] + offsets[static_cast<size_t>(i)]) * scales[static_cast<size_t>(i)];
      }
    });
    return Status::ok();
  }
};

}  // namespace

Status dynamic_quant(const DynamicQuant& o, Plan* plan) {
  if (!is_value(o.x.dtype) || o.y.dtype != ACL_INT8) {
    return no_quantization(text("no dynamic quantization is defined from ", describe(o.x), " to ", describe(o.y)));
  }
  auto task = std::make_shared<DynamicTask>();
  SOFTNPU_RETURN_IF_ERROR(task->pair.make(o.x, o.y));
  SOFTNPU_RETURN_IF_ERROR(task->smooth.make(o.smooth, "smoothScales"));
  SOFTNPU_RETURN_IF_ERROR(task->group_index.make(o.group_index, "groupIndex"));
  const int64_t sets = std::max<int64_t>(1, task->group_index.count());
  if (task->smooth.count() != 0 && !(checked(sets) * task->pair.length).is(task->smooth.count())) {
    return no_quantization(text("smoothScales is ", describe(*o.smooth), ", where ", sets, " times ", task->pair.length,
                                " elements are needed"));
  }
  SOFTNPU_RETURN_IF_ERROR(open_scale(o.scale, "scale", task->pair.rows, &task->scale));
  task->has_offset = o.offset != nullptr && element_count(*o.offset) > 0;
  if (task->has_offset) SOFTNPU_RETURN_IF_ERROR(open_scale(*o.offset, "offset", task->pair.rows, &task->offset));
  const RowPair& pair = task->pair;
  return finish(std::move(task), pair, o.x, plan);
}

Status static_quant(const aclTensor& x, const aclTensor& scale, const aclTensor* offset, bool square_scale,
                    const char* round, aclDataType dtype, int64_t axis, const aclTensor& y, Plan* plan) {
  if (!is_value(x.dtype) || y.dtype != ACL_INT8 || dtype != ACL_INT8) {
    return no_quantization(text("no quantization is defined from ", describe(x), " to ", describe(y)));
  }
  const auto n = static_cast<int64_t>(x.dims.size());
  const int64_t from_end = axis < 0 ? -axis : n - axis;
  if (from_end < 1 || from_end > 2 || from_end > n) {
    return no_quantization(
        text("axis is ", axis, " where the values are ", describe(x), ": it is one of the last two"));
  }
  auto task = std::make_shared<StaticTask>();
  SOFTNPU_RETURN_IF_ERROR(round_of(round, &task->round));
  SOFTNPU_RETURN_IF_ERROR(task->pair.make(x, y));
  task->along_rows = from_end == 2;
  SOFTNPU_RETURN_IF_ERROR(task->affine.make(scale, offset, square_scale, x.dims[static_cast<size_t>(n - from_end)]));
  const RowPair& pair = task->pair;
  return finish(std::move(task), pair, x, plan);
}

Status quantize(const aclTensor& x, const aclTensor& scale, const aclTensor* offset, aclDataType dtype, int64_t axis,
                const aclTensor& y, Plan* plan) {
  const bool fits = dtype == ACL_INT8 || dtype == ACL_UINT8 || dtype == ACL_INT32;
  if (!is_value(x.dtype) || !fits || y.dtype != dtype) {
    return no_quantization(text("no quantization is defined from ", describe(x), " to ", describe(y)));
  }
  const auto n = static_cast<int64_t>(x.dims.size());
  const int64_t dim = axis < 0 ? axis + n : axis;
  const bool is_one = element_count(scale) == 1 && (offset == nullptr || element_count(*offset) <= 1);
  if (!is_one && (dim < 0 || dim >= n)) {
    return no_quantization(text("axis is ", axis, " where the values are ", describe(x)));
  }
  auto task = std::make_shared<QuantizeTask>();
  SOFTNPU_RETURN_IF_ERROR(task->pair.make(x, y));
  task->type = dtype == ACL_INT8 ? kInt8 : dtype == ACL_UINT8 ? kUint8 : kInt32;
  const int64_t along = is_one ? n - 1 : dim;
  SOFTNPU_RETURN_IF_ERROR(task->affine.make(scale, offset, false, x.dims[static_cast<size_t>(along)]));
  if (along < n - 1) {
    task->rows_of_one = 1;
    for (int64_t i = along + 1; i < n - 1; ++i) task->rows_of_one *= x.dims[static_cast<size_t>(i)];
  }
  const RowPair& pair = task->pair;
  return finish(std::move(task), pair, x, plan);
}

Status anti_quant(const aclTensor& x, const aclTensor& scale, const aclTensor* offset, aclDataType dtype,
                  bool square_scale, const aclTensor& y, Plan* plan) {
  if (x.dtype != ACL_INT8 || !is_value(y.dtype) || dtype != y.dtype) {
    return no_quantization(text("no values of ", describe(x), " are defined in ", describe(y)));
  }
  auto task = std::make_shared<AntiTask>();
  SOFTNPU_RETURN_IF_ERROR(task->pair.make(x, y));
  SOFTNPU_RETURN_IF_ERROR(task->affine.make(scale, offset, square_scale, task->pair.length));
  const RowPair& pair = task->pair;
  return finish(std::move(task), pair, x, plan);
}

}  // namespace softnpu
