// The cross entropy of probabilities, with its gradient.

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "base/text.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/tensor_memory.h"
#include "ops/nn/loss/losses.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Rows of a matrix, or the elements of a vector as rows; strides in bytes.
struct Rows {
  char* data = nullptr;
  ptrdiff_t row = 0;
  ptrdiff_t column = 0;
};

Status open(const aclTensor& tensor, const char* role, Rows* out) {
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
  const auto size = static_cast<ptrdiff_t>(aclDataTypeSize(tensor.dtype));
  *out = {static_cast<char*>(data), tensor.strides[0] * size, tensor.dims.size() > 1 ? tensor.strides[1] * size : 0};
  return Status::ok();
}

struct SoftTargets {
  Rows x, labels, loss, gradient;
  ElementReader read;
  ElementWriter write;
  int64_t rows = 0;
  size_t columns = 0;

  void run(int64_t row, float* values, float* wanted) const {
    read.read(x.data + row * x.row, x.column, columns, values);
    read.read(labels.data + row * labels.row, labels.column, columns, wanted);
    const float most = *std::max_element(values, values + columns);
    double sum = 0;
    for (size_t i = 0; i < columns; ++i) sum += std::exp(static_cast<double>(values[i]) - most);
    const double log_sum = most + std::log(sum);
    double total = 0;
    for (size_t i = 0; i < columns; ++i) {
      const double log_probability = values[i] - log_sum;
      if (wanted[i] != 0) total -= wanted[i] * log_probability;
      values[i] = static_cast<float>(std::exp(log_probability) - wanted[i]);
    }
    const auto result = static_cast<float>(total);
    write.write(&result, 1, loss.data + row * loss.row, 0);
    write.write(values, columns, gradient.data + row * gradient.row, gradient.column);
  }
};

}  // namespace

Status soft_cross_entropy(const aclTensor& x, const aclTensor& labels, const aclTensor& loss, const aclTensor& gradient,
                          Plan* plan) {
  const bool is_matrix = is_known(x.dtype) && is_floating(x.dtype) && x.dtype != ACL_DOUBLE && x.dims.size() == 2;
  const bool fits = is_matrix && x.dims[1] > 0 && labels.dims == x.dims && gradient.dims == x.dims &&
                    loss.dims.size() == 1 && loss.dims[0] == x.dims[0] && labels.dtype == x.dtype &&
                    loss.dtype == x.dtype && gradient.dtype == x.dtype;
  if (!fits) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("no cross entropy is defined of ", describe(x), " and ", describe(labels), " in ", describe(loss),
                 " and ", describe(gradient), ": [N, C], [N, C], [N], [N, C] of one type up to 32 bits are needed")};
  }
  auto task = std::make_shared<SoftTargets>();
  SOFTNPU_RETURN_IF_ERROR(open(x, "features", &task->x));
  SOFTNPU_RETURN_IF_ERROR(open(labels, "labels", &task->labels));
  SOFTNPU_RETURN_IF_ERROR(open(loss, "loss", &task->loss));
  SOFTNPU_RETURN_IF_ERROR(open(gradient, "backprop", &task->gradient));
  task->read = ElementReader(x.dtype, ACL_FLOAT);
  task->write = ElementWriter(ACL_FLOAT, x.dtype);
  task->rows = x.dims[0];
  task->columns = static_cast<size_t>(x.dims[1]);
  constexpr double kFlopsPerElement = 64;
  const double cost = kFlopsPerElement * static_cast<double>(element_count(x));
  plan->work = cost;
  plan->describe = describe_later({&x, &labels});
  plan->run = [task = std::shared_ptr<const SoftTargets>(std::move(task)), threads = threads_for(cost)](void*) {
    parallel_for(task->rows, 1, threads, [&](int64_t first, int64_t last) {
      std::vector<float> values(task->columns);
      std::vector<float> wanted(task->columns);
      for (int64_t row = first; row < last; ++row) task->run(row, values.data(), wanted.data());
    });
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
