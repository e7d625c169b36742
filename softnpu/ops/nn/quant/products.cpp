#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "nnopbase/format.h"
#include "nnopbase/missing_memory.h"
#include "ops/blas/gemm/gemm.h"
#include "ops/blas/matmul/problem.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/tensor_memory.h"
#include "ops/core/view/view.h"
#include "ops/nn/quant/int8_dots.h"
#include "ops/nn/quant/numbers.h"
#include "ops/nn/quant/operators.h"
#include "ops/nn/quant/weight_dots.h"
#include "softnpu/softnpu.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// A stack of matrices over one broadcast batch. Strides in elements.
struct Stack {
  char* data = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
  Dims batch_strides;
  aclDataType dtype = ACL_DT_UNDEFINED;
  int64_t first = 0;  // of 4-bit elements: 1 if the first one is the upper half of its byte

  char* at(const Dims& batch, int64_t index, int64_t row, int64_t column) const {
    const int64_t element = batch_offset(batch, batch_strides, index) + row * row_stride + column * column_stride;
    return data + element * static_cast<int64_t>(aclDataTypeSize(dtype));
  }
};

struct Shapes {
  Dims batch;
  GemmSizes sizes;
  Stack a, b, out;
};

aclTensor swapped(const aclTensor& tensor, bool swaps) {
  aclTensor result = tensor;
  const size_t n = result.dims.size();
  if (!swaps || n < 2) return result;
  std::swap(result.dims[n - 2], result.dims[n - 1]);
  std::swap(result.strides[n - 2], result.strides[n - 1]);
  return result;
}

// The memory of 4-bit elements, two a byte.
Status open_halves(const aclTensor& tensor, const char* role, Stack* out) {
  if (element_count(tensor) == 0) return Status::ok();
  for (int64_t stride : tensor.strides) {
    if (stride < 0) return no_quantization(text(role, " has the negative stride ", stride));
  }
  if (is_blocked_format(tensor.format)) {
    return no_quantization(text(role, " is in the format ", static_cast<int>(tensor.format), ": cast it to ND"));
  }
  SOFTNPU_RETURN_IF_ERROR(not_null(tensor.data, role));
  out->first = tensor.offset % 2;
  const auto bytes = static_cast<size_t>((out->first + extent(tensor) + 1) / 2);
  const char* from = static_cast<const char*>(tensor.data) + tensor.offset / 2;
  void* data = nullptr;
  if (!find_device_memory(from, bytes, &data)) {
    return no_quantization(
        text(role, " at ", static_cast<const void*>(from), " does not lie in one allocation of ", bytes, " bytes"));
  }
  out->data = static_cast<char*>(data);
  return Status::ok();
}

Status open(const aclTensor& tensor, const char* role, const Dims& batch, Stack* out) {
  const size_t n = tensor.dims.size();
  out->dtype = tensor.dtype;
  out->row_stride = tensor.strides[n - 2];
  out->column_stride = tensor.strides[n - 1];
  for (size_t i = 0; i < batch.size(); ++i) {
    const size_t missing = batch.size() - (n - 2);
    out->batch_strides.push_back(i < missing || tensor.dims[i - missing] == 1 ? 0 : tensor.strides[i - missing]);
  }
  if (tensor.dtype == ACL_INT4) return open_halves(tensor, role, out);
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
  out->data = static_cast<char*>(data);
  return Status::ok();
}

// Reads the shapes of a [.., M, K], b [.., K, N] and out [.., M, N].
Status read_shapes(const aclTensor& a, const aclTensor& b, const aclTensor& out, Shapes* result) {
  const auto mismatch = [&] {
    return no_quantization(text(describe(a), " and ", describe(b), " do not multiply to ", describe(out)));
  };
  const size_t n = out.dims.size();
  if (a.dims.size() < 2 || b.dims.size() < 2 || n != std::max(a.dims.size(), b.dims.size())) return mismatch();
  for (size_t i = 0; i + 2 < n; ++i) {
    for (const aclTensor* factor : {&a, &b}) {
      const size_t missing = n - factor->dims.size();
      if (i >= missing && factor->dims[i - missing] != 1 && factor->dims[i - missing] != out.dims[i]) return mismatch();
    }
    result->batch.push_back(out.dims[i]);
    result->sizes.batch *= out.dims[i];
  }
  result->sizes.rows = out.dims[n - 2];
  result->sizes.columns = out.dims[n - 1];
  result->sizes.depth = a.dims[a.dims.size() - 1];
  if (a.dims[a.dims.size() - 2] != result->sizes.rows || b.dims[b.dims.size() - 1] != result->sizes.columns ||
      b.dims[b.dims.size() - 2] != result->sizes.depth) {
    return mismatch();
  }
  SOFTNPU_RETURN_IF_ERROR(open(a, "the left matrix", result->batch, &result->a));
  SOFTNPU_RETURN_IF_ERROR(open(b, "the right matrix", result->batch, &result->b));
  return open(out, "the result", result->batch, &result->out);
}

// int8 values in place: rows of the left matrix, or columns of the right one.
class Int8Source : public GemmSource {
 public:
  Int8Source(const Shapes& shapes, bool is_left)
      : batch_(shapes.batch),
        stack_(is_left ? shapes.a : shapes.b),
        side_(is_left ? stack_.row_stride : stack_.column_stride),
        sum_(is_left ? stack_.column_stride : stack_.row_stride) {}

  void pack(int64_t batch, int64_t k, int64_t depth, int64_t j, int64_t count, void* to, int64_t pitch) const override {
    const char* const from = stack_.at(batch_, batch, 0, 0);
    auto* const values = static_cast<int32_t*>(to);
    for (int64_t d = 0; d < depth; ++d) {
      const auto* const line = reinterpret_cast<const int8_t*>(from + (k + d) * sum_ + j * side_);
      for (int64_t i = 0; i < count; ++i) values[d * pitch + i] = line[i * side_];
    }
  }

 private:
  const Dims& batch_;
  const Stack& stack_;
  int64_t side_, sum_;
};

// The left matrix of floating-point values.
class ValueSource : public GemmSource {
 public:
  explicit ValueSource(const Shapes& shapes) : shapes_(shapes), reader_(shapes.a.dtype, shapes.a.dtype) {}

  void pack(int64_t batch, int64_t k, int64_t depth, int64_t j, int64_t count, void* to, int64_t pitch) const override {
    const auto step = shapes_.a.row_stride * static_cast<ptrdiff_t>(aclDataTypeSize(shapes_.a.dtype));
    for (int64_t d = 0; d < depth; ++d) {
      reader_.read(shapes_.a.at(shapes_.batch, batch, j, k + d), step, static_cast<size_t>(count),
                   static_cast<float*>(to) + d * pitch);
    }
  }

 private:
  const Shapes& shapes_;
  ElementReader reader_;
};

// The right matrix of int8 or int4 with its scales and offsets, [groups, columns] each.
class WeightSource : public GemmSource {
 public:
  WeightSource(const Shapes& shapes, int64_t group, const std::vector<float>& scales, const std::vector<float>& offsets)
      : shapes_(shapes), group_(group), scales_(scales), offsets_(offsets) {}

  void pack(int64_t batch, int64_t k, int64_t depth, int64_t j, int64_t count, void* to, int64_t pitch) const override {
    const Stack& b = shapes_.b;
    const int64_t begin =
        batch_offset(shapes_.batch, b.batch_strides, batch) + k * b.row_stride + j * b.column_stride + b.first;
    auto* const values = static_cast<float*>(to);
    const bool is_along = b.row_stride == 1;
    std::vector<int8_t> line(static_cast<size_t>(is_along ? depth : count));
    if (is_along) {
      for (int64_t i = 0; i < count; ++i) {
        spread_column(read(begin + i * b.column_stride, 1, &line), k, j + i, values + i, pitch, depth);
      }
      return;
    }
    for (int64_t d = 0; d < depth; ++d) {
      const int8_t* const row = read(begin + d * b.row_stride, b.column_stride, &line);
      const auto at = static_cast<size_t>((k + d) / group_ * shapes_.sizes.columns + j);
      for (int64_t i = 0; i < count; ++i) {
        const auto c = static_cast<size_t>(i);
        values[d * pitch + i] = (static_cast<float>(row[i]) + offsets_[at + c]) * scales_[at + c];
      }
    }
  }

 private:
  // As many elements as `to` has from `element` on, one a byte.
  const int8_t* read(int64_t element, int64_t stride, std::vector<int8_t>* to) const {
    const Stack& b = shapes_.b;
    if (b.dtype == ACL_INT4 && stride == 1) {
      unpack_int4(b.data, element, *to);
      return to->data();
    }
    if (b.dtype != ACL_INT4 && stride == 1) return reinterpret_cast<const int8_t*>(b.data) + element;
    for (size_t i = 0; i < to->size(); ++i) {
      const int64_t at = element + static_cast<int64_t>(i) * stride;
      if (b.dtype == ACL_INT4) {
        unpack_int4(b.data, at, std::span(*to).subspan(i, 1));
      } else {
        (*to)[i] = static_cast<int8_t>(b.data[at]);
      }
    }
    return to->data();
  }

  // Writes a column's elements from row `k` on, `pitch` apart.
  void spread_column(const int8_t* from, int64_t k, int64_t column, float* to, int64_t pitch, int64_t depth) const {
    for (int64_t d = 0; d < depth;) {
      const int64_t group = (k + d) / group_;
      const int64_t end = std::min(depth, (group + 1) * group_ - k);
      const auto at = static_cast<size_t>(group * shapes_.sizes.columns + column);
      const float scale = scales_[at];
      const float offset = offsets_[at];
      for (; d < end; ++d) to[d * pitch] = (static_cast<float>(from[d]) + offset) * scale;
    }
  }

  const Shapes& shapes_;
  int64_t group_;
  const std::vector<float>& scales_;
  const std::vector<float>& offsets_;
};

// The epilogue of int32 or float32 sums: (sum + before) * column * row + after.
template <typename Sum>
struct Epilogue {
  std::vector<int32_t> before;  // per column, or empty
  std::vector<float> column, row, after;
};

template <typename Sum>
class ScaledSink : public GemmSink {
 public:
  ScaledSink(const Shapes& shapes, const Epilogue<Sum>& epilogue)
      : shapes_(shapes), epilogue_(epilogue), writer_(ACL_FLOAT, shapes.out.dtype) {}

  void store(int64_t batch, int64_t i, int64_t j, int64_t count, void* sums) const override {
    constexpr int64_t kAtATime = 256;
    const auto* const from = static_cast<const Sum*>(sums);
    const auto bytes = static_cast<ptrdiff_t>(aclDataTypeSize(shapes_.out.dtype));
    float result[kAtATime];
    for (int64_t first = 0; first < count; first += kAtATime) {
      const int64_t here = std::min(kAtATime, count - first);
      for (int64_t x = 0; x < here; ++x) result[x] = value(from[first + x], i, j + first + x);
      for (int64_t x = 0; shapes_.out.dtype == ACL_INT8 && x < here; ++x) result[x] = to_int8(result[x]);
      writer_.write(result, static_cast<size_t>(here), shapes_.out.at(shapes_.batch, batch, i, j + first),
                    shapes_.out.column_stride * bytes);
    }
  }

 private:
  float value(Sum sum, int64_t i, int64_t j) const {
    const auto column = static_cast<size_t>(j);
    if constexpr (std::is_same_v<Sum, int32_t>) {
      if (!epilogue_.before.empty()) {
        sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(epilogue_.before[column]));
      }
    }
    return static_cast<float>(sum) * epilogue_.column[column] * epilogue_.row[static_cast<size_t>(i)] +
           epilogue_.after[column];
  }

  const Shapes& shapes_;
  const Epilogue<Sum>& epilogue_;
  ElementWriter writer_;
};

bool is_packed(const aclTensor& tensor) { return tensor.dtype == ACL_INT64 || tensor.dtype == ACL_UINT64; }

// 64-bit or 32-bit integers as stored.
template <typename T>
std::vector<T> read_integers(const FlatTensor& tensor, int64_t count) {
  std::vector<T> values;
  tensor.for_runs(0, count, [&](const char* from, ptrdiff_t stride, int64_t here) {
    for (int64_t i = 0; i < here; ++i, from += stride) {
      T value;
      std::memcpy(&value, from, sizeof(T));
      values.push_back(value);
    }
  });
  return values;
}

Status check_columns(const char* role, const aclTensor* tensor, int64_t columns) {
  if (tensor == nullptr || element_count(*tensor) <= 1 || element_count(*tensor) == columns) return Status::ok();
  return no_quantization(text(role, " is ", describe(*tensor), ", where 1 or ", columns, " elements are needed"));
}

struct QuantTask {
  Shapes shapes;
  Numbers row, column, offset, bias;
  bool is_packed = false;
  bool has_whole_bias = false;
  FlatTensor packed, whole_bias;
  int64_t packed_count = 0;
  int64_t bias_count = 0;
  int threads = 1;

  Status run() const {
    const int64_t columns = shapes.sizes.columns;
    Epilogue<int32_t> epilogue;
    epilogue.row = row.spread(shapes.sizes.rows, 1);
    epilogue.column = column.spread(columns, 1);
    epilogue.after = offset.spread(columns, 0);
    if (is_packed) unpack(&epilogue);
    if (has_whole_bias) {
      epilogue.before = read_integers<int32_t>(whole_bias, bias_count);
      if (bias_count == 1) epilogue.before.assign(static_cast<size_t>(columns), epilogue.before[0]);
    } else {
      const std::vector<float> added = bias.spread(columns, 0);
      for (size_t j = 0; j < added.size(); ++j) epilogue.after[j] += added[j];
    }
    const ScaledSink<int32_t> sink(shapes, epilogue);
    if (shapes.a.column_stride == 1 && shapes.b.row_stride == 1) {
      multiply_in_place(sink);
      return Status::ok();
    }
    gemm(ComputeType::kI32, shapes.sizes, Int8Source(shapes, true), Int8Source(shapes, false), sink, threads);
    return Status::ok();
  }

 private:
  void multiply_in_place(const GemmSink& sink) const {
    const auto lines = [&](const Stack& stack, int64_t batch, int64_t stride) {
      return Int8Lines{reinterpret_cast<const int8_t*>(stack.at(shapes.batch, batch, 0, 0)), stride};
    };
    for (int64_t batch = 0; batch < shapes.sizes.batch; ++batch) {
      int8_dots(lines(shapes.a, batch, shapes.a.row_stride), lines(shapes.b, batch, shapes.b.column_stride),
                shapes.sizes, batch, sink, threads);
    }
  }

  void unpack(Epilogue<int32_t>* epilogue) const {
    const std::vector<uint64_t> words = read_integers<uint64_t>(packed, packed_count);
    for (size_t j = 0; j < epilogue->column.size(); ++j) {
      const uint64_t word = words[words.size() == 1 ? 0 : j];
      epilogue->column[j] = std::bit_cast<float>(static_cast<uint32_t>(word));
      epilogue->after[j] += std::bit_cast<float>(static_cast<uint32_t>(word >> 32));
    }
  }
};

bool is_result(aclDataType dtype) { return is_known(dtype) && is_floating(dtype) && dtype != ACL_DOUBLE; }

struct WeightTask {
  Shapes shapes;
  Numbers scale, offset, bias;
  int64_t group = 1;
  int64_t groups = 1;
  bool is_contiguous = false;  // along the sum, with parameters in place
  ContiguousWeights contiguous;
  int threads = 1;

  Status run() const {
    Epilogue<float> epilogue;
    epilogue.column.assign(static_cast<size_t>(shapes.sizes.columns), 1);
    epilogue.row.assign(static_cast<size_t>(shapes.sizes.rows), 1);
    epilogue.after = bias.spread(shapes.sizes.columns, 0);
    const ScaledSink<float> sink(shapes, epilogue);
    if (is_contiguous) {
      multiply_in_place(sink);
      return Status::ok();
    }
    const std::vector<float> scales = scale.spread(groups * shapes.sizes.columns, 1);
    const std::vector<float> offsets = offset.spread(groups * shapes.sizes.columns, 0);
    gemm(ComputeType::kF32, shapes.sizes, ValueSource(shapes), WeightSource(shapes, group, scales, offsets), sink,
         threads);
    return Status::ok();
  }

 private:
  void multiply_in_place(const GemmSink& sink) const {
    constexpr int64_t kRowsAtATime = 256;
    const Stack& a = shapes.a;
    const ElementReader reader(a.dtype, a.dtype);
    const auto step = a.column_stride * static_cast<ptrdiff_t>(aclDataTypeSize(a.dtype));
    const auto depth = static_cast<size_t>(shapes.sizes.depth);
    std::vector<float> x;
    for (int64_t batch = 0; batch < shapes.sizes.batch; ++batch) {
      const int64_t first = batch_offset(shapes.batch, shapes.b.batch_strides, batch) + shapes.b.first;
      for (int64_t row = 0; row < shapes.sizes.rows; row += kRowsAtATime) {
        GemmSizes sizes = shapes.sizes;
        sizes.rows = std::min(kRowsAtATime, sizes.rows - row);
        x.resize(static_cast<size_t>(sizes.rows) * depth);
        for (int64_t i = 0; i < sizes.rows; ++i) {
          reader.read(a.at(shapes.batch, batch, row + i, 0), step, depth, x.data() + static_cast<size_t>(i) * depth);
        }
        weight_dots(contiguous, first, x.data(), sizes, batch, row, sink, threads);
      }
    }
  }
};

// Whether the numbers, [groups, columns] or broadcast to it, can be read in place.
bool read_in_place(const aclTensor* tensor, int64_t groups, int64_t columns, WeightParameters* out) {
  if (tensor == nullptr || element_count(*tensor) == 0) return true;
  if (!is_result(tensor->dtype)) return false;
  const std::array<int64_t, 2> dims = {groups, columns};
  aclTensor grid;
  void* data = nullptr;
  if (!expand(*tensor, dims, "the parameters", &grid).is_ok()) return false;
  if (!tensor_memory(*tensor, "the parameters", &data).is_ok()) return false;
  const auto bytes = static_cast<ptrdiff_t>(aclDataTypeSize(tensor->dtype));
  *out = {static_cast<const char*>(data), grid.strides[0] * bytes, grid.strides[1] * bytes,
          ElementReader(tensor->dtype, ACL_FLOAT)};
  return true;
}

// Columns of weights that are contiguous are multiplied without packing.
void find_contiguous(const WeightQuantMatmul& o, WeightTask* task) {
  const Stack& b = task->shapes.b;
  const GemmSizes& sizes = task->shapes.sizes;
  if (b.row_stride != 1 || sizes.depth == 0) return;
  ContiguousWeights& found = task->contiguous;
  found = {b.data, b.column_stride, b.dtype == ACL_INT4, task->group, {}, {}};
  task->is_contiguous = read_in_place(&o.scale, task->groups, sizes.columns, &found.scale) &&
                        found.scale.data != nullptr &&
                        read_in_place(o.offset, task->groups, sizes.columns, &found.offset);
}

template <typename Task>
Status finish(std::shared_ptr<Task> task, std::string message, Plan* plan) {
  const double flops = task->shapes.sizes.flops();
  task->threads = threads_for(flops);
  plan->work = flops;
  plan->describe = [message = std::move(message)] { return message; };
  plan->run = [task = std::shared_ptr<const Task>(std::move(task))](void*) {
    const GemmSizes& sizes = task->shapes.sizes;
    return sizes.batch * sizes.rows * sizes.columns == 0 ? Status::ok() : task->run();
  };
  return Status::ok();
}

Status check_missing(std::span<const aclTensor* const> tensors) {
  for (const aclTensor* tensor : tensors) {
    if (tensor != nullptr && element_count(*tensor) > 0) {
      return no_quantization(text("an argument that is not defined here is ", describe(*tensor)));
    }
  }
  return Status::ok();
}

}  // namespace

Status pack_quant_parameters(const aclTensor& scale, const aclTensor* offset, const aclTensor& packed, Plan* plan) {
  struct Task {
    Numbers scale, offset;
    FlatTensor packed;
    int64_t count = 0;
  };
  auto task = std::make_shared<Task>();
  task->count = element_count(packed);
  SOFTNPU_RETURN_IF_ERROR(task->scale.make(&scale, "the scale"));
  SOFTNPU_RETURN_IF_ERROR(task->offset.make(offset, "the offset"));
  SOFTNPU_RETURN_IF_ERROR(check_columns("the scale", &scale, task->count));
  SOFTNPU_RETURN_IF_ERROR(check_columns("the offset", offset, task->count));
  if (scale.dtype != ACL_FLOAT || !is_packed(packed)) {
    return no_quantization(text("no packed parameters are defined of ", describe(scale), " in ", describe(packed)));
  }
  SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(packed, -1, "the packed parameters", &task->packed));
  plan->work = 0;
  plan->run = [task = std::shared_ptr<const Task>(std::move(task))](void*) {
    const std::vector<float> scales = task->scale.spread(task->count, 1);
    const std::vector<float> offsets = task->offset.spread(task->count, 0);
    size_t j = 0;
    task->packed.for_runs(0, task->count, [&](char* to, ptrdiff_t stride, int64_t here) {
      for (int64_t i = 0; i < here; ++i, ++j, to += stride) {
        const uint64_t word =
            static_cast<uint64_t>(std::bit_cast<uint32_t>(offsets[j])) << 32 | std::bit_cast<uint32_t>(scales[j]);
        std::memcpy(to, &word, sizeof(word));
      }
    });
    return Status::ok();
  };
  return Status::ok();
}

Status quant_matmul(const QuantMatmul& o, Plan* plan) {
  const bool to_values = is_result(o.out.dtype) || o.out.dtype == ACL_INT8;
  if (o.x1.dtype != ACL_INT8 || o.x2.dtype != ACL_INT8 || !to_values) {
    return no_quantization(
        text("no quantized product is defined of ", describe(o.x1), " and ", describe(o.x2), " in ", describe(o.out)));
  }
  SOFTNPU_RETURN_IF_ERROR(check_missing(o.undefined));
  if (o.group != 0) return no_quantization(text("groupSize is ", o.group, "; groups are not defined here"));
  auto task = std::make_shared<QuantTask>();
  SOFTNPU_RETURN_IF_ERROR(read_shapes(swapped(o.x1, o.transpose1), swapped(o.x2, o.transpose2), o.out, &task->shapes));
  const int64_t columns = task->shapes.sizes.columns;
  SOFTNPU_RETURN_IF_ERROR(check_columns("x1Scale", o.x1_scale, task->shapes.sizes.rows));
  SOFTNPU_RETURN_IF_ERROR(check_columns("x2Scale", &o.x2_scale, columns));
  SOFTNPU_RETURN_IF_ERROR(check_columns("x2Offset", o.x2_offset, columns));
  SOFTNPU_RETURN_IF_ERROR(check_columns("the bias", o.bias, columns));
  SOFTNPU_RETURN_IF_ERROR(task->row.make(o.x1_scale, "x1Scale"));
  SOFTNPU_RETURN_IF_ERROR(task->offset.make(o.x2_offset, "x2Offset"));
  task->is_packed = is_packed(o.x2_scale);
  if (task->is_packed) {
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(o.x2_scale, -1, "x2Scale", &task->packed));
    task->packed_count = element_count(o.x2_scale);
  } else {
    SOFTNPU_RETURN_IF_ERROR(task->column.make(&o.x2_scale, "x2Scale"));
  }
  task->bias_count = o.bias == nullptr ? 0 : element_count(*o.bias);
  task->has_whole_bias = task->bias_count > 0 && o.bias->dtype == ACL_INT32;
  if (task->has_whole_bias) {
    SOFTNPU_RETURN_IF_ERROR(FlatTensor::make(*o.bias, -1, "the bias", &task->whole_bias));
  } else {
    SOFTNPU_RETURN_IF_ERROR(task->bias.make(o.bias, "the bias"));
  }
  return finish(std::move(task), text("(", describe(o.x1), ", ", describe(o.x2), ")"), plan);
}

Status weight_quant_matmul(const WeightQuantMatmul& o, Plan* plan) {
  const bool is_weight = o.weight.dtype == ACL_INT8 || o.weight.dtype == ACL_INT4;
  if (!is_result(o.x.dtype) || !is_weight || o.out.dtype != o.x.dtype) {
    return no_quantization(
        text("no product is defined of ", describe(o.x), " and ", describe(o.weight), " in ", describe(o.out)));
  }
  SOFTNPU_RETURN_IF_ERROR(check_missing(o.undefined));
  auto task = std::make_shared<WeightTask>();
  SOFTNPU_RETURN_IF_ERROR(read_shapes(o.x, o.weight, o.out, &task->shapes));
  const GemmSizes& sizes = task->shapes.sizes;
  if (o.group < 0) return no_quantization(text("antiquantGroupSize is ", o.group));
  task->group = o.group == 0 ? std::max<int64_t>(1, sizes.depth) : o.group;
  task->groups = std::max<int64_t>(1, sizes.depth / task->group + (sizes.depth % task->group != 0 ? 1 : 0));
  const Checked all = checked(task->groups) * sizes.columns;
  if (!all.fits()) return no_quantization("the number of scales does not fit into 64 bits");
  const int64_t scales = all.value();
  SOFTNPU_RETURN_IF_ERROR(check_columns("antiquantScale", &o.scale, scales));
  SOFTNPU_RETURN_IF_ERROR(check_columns("antiquantOffset", o.offset, scales));
  SOFTNPU_RETURN_IF_ERROR(check_columns("the bias", o.bias, sizes.columns));
  SOFTNPU_RETURN_IF_ERROR(task->scale.make(&o.scale, "antiquantScale"));
  SOFTNPU_RETURN_IF_ERROR(task->offset.make(o.offset, "antiquantOffset"));
  SOFTNPU_RETURN_IF_ERROR(task->bias.make(o.bias, "the bias"));
  find_contiguous(o, task.get());
  return finish(std::move(task), text("(", describe(o.x), ", ", describe(o.weight), ")"), plan);
}

}  // namespace softnpu
