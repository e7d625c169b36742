#include "ops/blas/matmul/triangular.h"

#include <memory>
#include <vector>

#include "base/text.h"
#include "ops/blas/matmul/problem.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/tensor_memory.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// A stack of matrices; strides in elements.
struct TriangularBatch {
  char* data = nullptr;
  int64_t row = 0;
  int64_t column = 0;
  Dims batch;  // strides, 0 if broadcast
};

Status open(const aclTensor& tensor, const char* role, const Dims& batch, TriangularBatch* out) {
  const size_t n = tensor.dims.size();
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
  *out = {static_cast<char*>(data), tensor.strides[n - 2], tensor.strides[n - 1], Dims(batch.size(), 0)};
  for (size_t i = 0; i + 2 < n; ++i) {
    if (tensor.dims[i] != 1) out->batch[batch.size() - (n - 2) + i] = tensor.strides[i];
  }
  return Status::ok();
}

bool broadcasts(const aclTensor& tensor, const Dims& batch) {
  const size_t n = tensor.dims.size() - 2;
  if (n > batch.size()) return false;
  for (size_t i = 0; i < n; ++i) {
    if (tensor.dims[i] != 1 && tensor.dims[i] != batch[batch.size() - n + i]) return false;
  }
  return true;
}

struct Solve {
  TriangularAttributes attributes;
  Dims batch;
  int64_t count = 1;
  int64_t n = 0;
  int64_t k = 0;
  TriangularBatch a, b, x, copy;
  int64_t copies = 0;  // matrices of `copy`
  Dims copy_batch;
  aclDataType dtype = ACL_DT_UNDEFINED;

  template <typename T>
  static T* at(const TriangularBatch& m, const Dims& batch, int64_t index) {
    return reinterpret_cast<T*>(m.data) + batch_offset(batch, m.batch, index);
  }

  template <typename T>
  void run(int threads) const {
    // The copy is not read: it may have a's place in the batch only once.
    parallel_for(copies, 1, threads, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const T* from = reinterpret_cast<const T*>(a.data) + batch_offset(copy_batch, a_own, i);
        T* to = at<T>(copy, copy_batch, i);
        for (int64_t r = 0; r < n; ++r) {
          for (int64_t c = 0; c < n; ++c) to[r * copy.row + c * copy.column] = from[r * a.row + c * a.column];
        }
      }
    });
    parallel_for(count, 1, threads, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        solve(at<T>(a, batch, i), at<T>(b, batch, i), at<T>(x, batch, i));
      }
    });
  }

  Dims a_own;  // a's own strides in copy_batch

 private:
  // One system. Rows of x are found from the first or from the last on.
  template <typename T>
  void solve(const T* system, const T* right, T* to) const {
    const int64_t row = attributes.transpose ? a.column : a.row;
    const int64_t column = attributes.transpose ? a.row : a.column;
    const bool backwards = attributes.upper != attributes.transpose;
    std::vector<double> found(static_cast<size_t>(n * k));
    for (int64_t step = 0; step < n; ++step) {
      const int64_t r = backwards ? n - 1 - step : step;
      double* own = found.data() + r * k;
      for (int64_t j = 0; j < k; ++j) own[j] = right[r * b.row + j * b.column];
      for (int64_t before = 0; before < step; ++before) {
        const int64_t c = backwards ? n - 1 - before : before;
        const double factor = system[r * row + c * column];
        const double* other = found.data() + c * k;
        for (int64_t j = 0; j < k; ++j) own[j] -= factor * other[j];
      }
      const double diagonal = attributes.unitriangular ? 1.0 : static_cast<double>(system[r * (row + column)]);
      for (int64_t j = 0; j < k; ++j) own[j] /= diagonal;
    }
    for (int64_t r = 0; r < n; ++r) {
      for (int64_t j = 0; j < k; ++j)
        to[r * x.row + j * x.column] = static_cast<T>(found[static_cast<size_t>(r * k + j)]);
    }
  }
};

Status check(const aclTensor& b, const aclTensor& a, const aclTensor& x, const aclTensor& copy) {
  const auto wrong = [&] {
    return Status(ACLNN_ERR_PARAM_INVALID,
                  text("no system of equations is defined of ", describe(a), " and ", describe(b), " with the results ",
                       describe(x), " and ", describe(copy)));
  };
  for (const aclTensor* tensor : {&b, &a, &x, &copy}) {
    if (tensor->dtype != a.dtype || tensor->dims.size() < 2) return wrong();
  }
  if (a.dtype != ACL_FLOAT && a.dtype != ACL_DOUBLE) return wrong();
  const Dims batch(x.dims.begin(), x.dims.end() - 2);
  const auto inner = [](const aclTensor& tensor, size_t i) { return tensor.dims[tensor.dims.size() - 2 + i]; };
  const bool fits = inner(a, 0) == inner(a, 1) && inner(b, 0) == inner(a, 0) && inner(x, 0) == inner(b, 0) &&
                    inner(x, 1) == inner(b, 1) && copy.dims == a.dims && broadcasts(a, batch) && broadcasts(b, batch);
  return fits ? Status::ok() : wrong();
}

}  // namespace

Status triangular_solve(const TriangularAttributes& attributes, const aclTensor& b, const aclTensor& a,
                        const aclTensor& x, const aclTensor& copy, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check(b, a, x, copy));
  auto task = std::make_shared<Solve>();
  task->attributes = attributes;
  task->batch = Dims(x.dims.begin(), x.dims.end() - 2);
  task->copy_batch = Dims(a.dims.begin(), a.dims.end() - 2);
  SOFTNPU_RETURN_IF_ERROR(open(a, "A", task->batch, &task->a));
  SOFTNPU_RETURN_IF_ERROR(open(b, "self", task->batch, &task->b));
  SOFTNPU_RETURN_IF_ERROR(open(x, "xOut", task->batch, &task->x));
  SOFTNPU_RETURN_IF_ERROR(open(copy, "mOut", task->copy_batch, &task->copy));
  task->a_own = Dims(a.strides.begin(), a.strides.end() - 2);
  task->n = a.dims[a.dims.size() - 1];
  task->k = x.dims[x.dims.size() - 1];
  task->dtype = a.dtype;
  task->copies = element_count(a) == 0 ? 0 : element_count(a) / (task->n * task->n);
  task->count = element_count(x) == 0 ? 0 : element_count(x) / (task->n * task->k);
  const double cost =
      static_cast<double>(element_count(x)) * static_cast<double>(task->n) + 4 * static_cast<double>(element_count(a));
  const int threads = threads_for(cost);
  plan->work = cost;
  plan->describe = describe_later({&a, &b});
  plan->run = [task = std::shared_ptr<const Solve>(std::move(task)), threads](void*) {
    task->dtype == ACL_DOUBLE ? task->run<double>(threads) : task->run<float>(threads);
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
