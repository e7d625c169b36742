#include <algorithm>
#include <cmath>

#include "ops/nn/attention/rotary.h"
#include "ops/nn/attention/row_task.h"
#include "ops/nn/attention/rows.h"

namespace softnpu {
namespace {

constexpr double kMasked = -10000;

struct MaskedRows {
  TensorRows a, b, mask, out;  // b: gradient
  bool has_mask = false, triangular = false;
  int64_t length = 0, rows_of_matrix = 1;
  double scale = 1;

  template <typename T>
  bool is_masked(const T* flags, int64_t row, int64_t j) const {
    if (triangular) return j > row % rows_of_matrix;
    return has_mask && flags[j] != 0;
  }

  template <typename T>
  void forward(int64_t row, void* buffers) const {
    T* x = static_cast<T*>(buffers);
    T* flags = x + length;
    a.read(row, x);
    if (has_mask) mask.read(row, flags);
    T most = -std::numeric_limits<T>::infinity();
    for (int64_t j = 0; j < length; ++j) {
      x[j] = is_masked(flags, row, j) ? T(kMasked) : x[j] * T(scale);
      most = x[j] > most || x[j] != x[j] ? x[j] : most;
    }
    double sum = 0;
    for (int64_t j = 0; j < length; ++j) sum += x[j] = std::exp(x[j] - most);
    for (int64_t j = 0; j < length; ++j) x[j] = static_cast<T>(x[j] / sum);
    out.write(x, row);
  }

  template <typename T>
  void backward(int64_t row, void* buffers) const {
    T* gradient = static_cast<T*>(buffers);
    T* flags = gradient + length;
    T* y = flags + length;
    a.read(row, gradient);
    b.read(row, y);
    if (has_mask) mask.read(row, flags);
    double sum = 0;
    for (int64_t j = 0; j < length; ++j) sum += static_cast<double>(gradient[j]) * y[j];
    for (int64_t j = 0; j < length; ++j) {
      y[j] = is_masked(flags, row, j) ? T(0) : static_cast<T>(scale * y[j] * (gradient[j] - sum));
    }
    out.write(y, row);
  }
};

Status make_rows(const aclTensor& x, const aclTensor* y, const aclTensor* mask, double scale, bool triangular,
                 const aclTensor& out, MaskedRows* rows) {
  SOFTNPU_RETURN_IF_ERROR(check_rows(x, "x"));
  for (const aclTensor* other : {y, &out}) {
    if (other != nullptr && !std::ranges::equal(x.dims, other->dims)) {
      return {ACLNN_ERR_PARAM_INVALID, text(describe(*other), " is given where x is ", describe(x))};
    }
  }
  const std::span<const int64_t> dims(x.dims.begin(), x.dims.size());
  const aclDataType as = row_type(x);
  SOFTNPU_RETURN_IF_ERROR(TensorRows::make(x, "x", dims, as, &rows->a));
  if (y != nullptr) SOFTNPU_RETURN_IF_ERROR(TensorRows::make(*y, "y", dims, as, &rows->b));
  SOFTNPU_RETURN_IF_ERROR(TensorRows::make(out, "out", dims, as, &rows->out));
  rows->triangular = triangular;
  rows->has_mask = !triangular && mask != nullptr && element_count(*mask) > 0;
  if (rows->has_mask) SOFTNPU_RETURN_IF_ERROR(TensorRows::make(*mask, "mask", dims, as, &rows->mask));
  rows->length = x.dims.back();
  rows->rows_of_matrix = x.dims.size() > 1 ? std::max<int64_t>(1, x.dims[x.dims.size() - 2]) : 1;
  rows->scale = scale;
  return Status::ok();
}

}  // namespace

Status masked_softmax(const aclTensor& x, const aclTensor* mask, double scale, bool triangular, const aclTensor& out,
                      Plan* plan) {
  MaskedRows rows;
  SOFTNPU_RETURN_IF_ERROR(make_rows(x, nullptr, mask, scale, triangular, out, &rows));
  plan_rows(
      x, 2,
      [rows = std::move(rows), is_double = row_type(x) == ACL_DOUBLE](int64_t row, void* buffers) {
        is_double ? rows.forward<double>(row, buffers) : rows.forward<float>(row, buffers);
      },
      plan);
  return Status::ok();
}

Status masked_softmax_grad(const aclTensor& grad, const aclTensor& y, const aclTensor* mask, double scale,
                           bool triangular, const aclTensor& out, Plan* plan) {
  MaskedRows rows;
  SOFTNPU_RETURN_IF_ERROR(make_rows(grad, &y, mask, scale, triangular, out, &rows));
  plan_rows(
      grad, 3,
      [rows = std::move(rows), is_double = row_type(grad) == ACL_DOUBLE](int64_t row, void* buffers) {
        is_double ? rows.backward<double>(row, buffers) : rows.backward<float>(row, buffers);
      },
      plan);
  return Status::ok();
}

}  // namespace softnpu
