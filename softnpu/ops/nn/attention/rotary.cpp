#include "ops/nn/attention/rotary.h"

#include <algorithm>
#include <cstring>

#include "ops/nn/attention/row_task.h"
#include "ops/nn/attention/rows.h"

namespace softnpu {
namespace {

Status check_mode(int64_t mode, const aclTensor& x) {
  SOFTNPU_RETURN_IF_ERROR(check_rows(x, "x"));
  if (mode != 0 && mode != 1) {
    return {ACLNN_ERR_PARAM_INVALID, text("rotary mode ", mode, " is not taken: it is 0 (half) or 1 (interleave)")};
  }
  if (x.dims.back() % 2 == 0) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("x is ", describe(x), ": rows of pairs are needed")};
}

// Indices of the first and second element of pair i.
struct Pairs {
  int64_t half;
  bool neighbours;
  int64_t first(int64_t i) const { return neighbours ? 2 * i : i; }
  int64_t second(int64_t i) const { return neighbours ? 2 * i + 1 : i + half; }
};

struct Rotation {
  TensorRows x, cos, sin, out;
  int64_t length = 0;
  Pairs pairs{};
  bool splits = false;  // pairs are adjacent in x alone

  template <typename T>
  void run(int64_t row, void* buffers) const {
    T* v = static_cast<T*>(buffers);
    T* c = v + length;
    T* s = c + length;
    x.read(row, v);
    if (splits) {
      for (int64_t i = 0; i < pairs.half; ++i) {
        c[i] = v[2 * i];
        c[i + pairs.half] = v[2 * i + 1];
      }
      std::copy_n(c, 2 * pairs.half, v);
    }
    cos.read(row, c);
    sin.read(row, s);
    for (int64_t i = 0; i < pairs.half; ++i) {
      const int64_t a = pairs.first(i), b = pairs.second(i);
      const T left = v[a], right = v[b];
      v[a] = left * c[a] - right * s[a];
      v[b] = right * c[b] + left * s[b];
    }
    out.write(v, row);
  }
};

Status make_rotation(const aclTensor& x, const aclTensor& cos, const aclTensor& sin, int64_t mode, const aclTensor& out,
                     Rotation* rotation) {
  SOFTNPU_RETURN_IF_ERROR(check_mode(mode, x));
  if (!std::ranges::equal(x.dims, out.dims)) {
    return {ACLNN_ERR_PARAM_INVALID, text("out is ", describe(out), " where x is ", describe(x))};
  }
  const std::span<const int64_t> dims(x.dims.begin(), x.dims.size());
  const aclDataType as = row_type(x);
  SOFTNPU_RETURN_IF_ERROR(TensorRows::make(x, "x", dims, as, &rotation->x));
  SOFTNPU_RETURN_IF_ERROR(TensorRows::make(cos, "cos", dims, as, &rotation->cos));
  SOFTNPU_RETURN_IF_ERROR(TensorRows::make(sin, "sin", dims, as, &rotation->sin));
  SOFTNPU_RETURN_IF_ERROR(TensorRows::make(out, "out", dims, as, &rotation->out));
  rotation->length = x.dims.back();
  rotation->pairs = {rotation->length / 2, mode == 1};
  return Status::ok();
}

void plan_rotation(const aclTensor& x, Rotation rotation, Plan* plan) {
  plan_rows(
      x, 3,
      [rotation = std::move(rotation), is_double = row_type(x) == ACL_DOUBLE](int64_t row, void* buffers) {
        is_double ? rotation.run<double>(row, buffers) : rotation.run<float>(row, buffers);
      },
      plan);
}

struct RotationGradient {
  TensorRows grad, cos, sin, x, dx, dcos, dsin;
  bool has_dcos = false, has_dsin = false;
  int64_t rows = 0, length = 0;
  Pairs pairs{};

  int64_t sums() const { return length * cos.own_count(); }
  Checked workspace_bytes() const {
    return (checked(length) * 5 + checked(length) * cos.own_count() * 2) * sizeof(double);
  }

  // In float64 and in row order: many rows may be added to the same sum.
  void run(double* workspace) const {
    double* g = workspace;
    double* c = g + length;
    double* s = c + length;
    double* v = s + length;
    double* d = v + length;
    double* cos_sums = d + length;
    double* sin_sums = cos_sums + sums();
    std::fill(cos_sums, sin_sums + sums(), 0.0);
    for (int64_t row = 0; row < rows; ++row) {
      grad.read(row, g);
      cos.read(row, c);
      sin.read(row, s);
      for (int64_t i = 0; i < pairs.half; ++i) {
        const int64_t a = pairs.first(i), b = pairs.second(i);
        d[a] = g[a] * c[a] + g[b] * s[b];
        d[b] = g[b] * c[b] - g[a] * s[a];
      }
      dx.write(d, row);
      if (!has_dcos && !has_dsin) continue;
      x.read(row, v);
      double* to_cos = cos_sums + cos.own(row) * length;
      double* to_sin = sin_sums + sin.own(row) * length;
      for (int64_t i = 0; i < pairs.half; ++i) {
        const int64_t a = pairs.first(i), b = pairs.second(i);
        to_cos[a] += g[a] * v[a];
        to_cos[b] += g[b] * v[b];
        to_sin[a] -= g[a] * v[b];
        to_sin[b] += g[b] * v[a];
      }
    }
    // Rows that share a sum write the same values.
    for (int64_t row = 0; row < rows; ++row) {
      if (has_dcos) dcos.write(cos_sums + cos.own(row) * length, row);
      if (has_dsin) dsin.write(sin_sums + sin.own(row) * length, row);
    }
  }
};

}  // namespace

Status rotate(const aclTensor& x, const aclTensor& cos, const aclTensor& sin, int64_t mode, const aclTensor& out,
              Plan* plan) {
  Rotation rotation;
  SOFTNPU_RETURN_IF_ERROR(make_rotation(x, cos, sin, mode, out, &rotation));
  plan_rotation(x, std::move(rotation), plan);
  return Status::ok();
}

Status rotate_to_halves(const aclTensor& x, const aclTensor& cos, const aclTensor& sin, const aclTensor& out,
                        Plan* plan) {
  Rotation rotation;
  SOFTNPU_RETURN_IF_ERROR(make_rotation(x, cos, sin, 0, out, &rotation));
  rotation.splits = true;
  plan_rotation(x, std::move(rotation), plan);
  return Status::ok();
}

Status rotate(const aclTensor& x, const aclTensor& cos, const aclTensor& sin, int64_t mode,
              const aclTensor* rotate_matrix, const aclTensor& out, Plan* plan) {
  if (rotate_matrix != nullptr && element_count(*rotate_matrix) > 0) {
    return {ACLNN_ERR_PARAM_INVALID, "rotate is given; the mode says how to rotate here"};
  }
  return rotate(x, cos, sin, mode, out, plan);
}

Status rotate_both(const aclTensor& query, const aclTensor& key, const aclTensor& cos, const aclTensor& sin,
                   const char* mode, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(not_null(mode, "rotaryMode"));
  const bool interleaved = std::strcmp(mode, "interleave") == 0;
  if (!interleaved && std::strcmp(mode, "half") != 0) {
    return {ACLNN_ERR_PARAM_INVALID, text("rotary mode '", mode, "' is not taken: it is 'half' or 'interleave'")};
  }
  Plan first;
  Plan second;
  SOFTNPU_RETURN_IF_ERROR(rotate(query, cos, sin, interleaved ? 1 : 0, query, &first));
  SOFTNPU_RETURN_IF_ERROR(rotate(key, cos, sin, interleaved ? 1 : 0, key, &second));
  plan->workspace_bytes = larger(first.workspace_bytes, second.workspace_bytes);
  plan->work = first.work + second.work;
  plan->describe = std::move(first.describe);
  plan->run = [first = std::move(first.run), second = std::move(second.run)](void* workspace) {
    SOFTNPU_RETURN_IF_ERROR(first(workspace));
    return second(workspace);
  };
  return Status::ok();
}

Status rotate_grad(const aclTensor& grad, const aclTensor& cos, const aclTensor& sin, const aclTensor* x, int64_t mode,
                   const aclTensor& dx, const aclTensor* dcos, const aclTensor* dsin, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_mode(mode, grad));
  auto task = std::make_shared<RotationGradient>();
  const std::span<const int64_t> dims(grad.dims.begin(), grad.dims.size());
  const bool has_x = x != nullptr && element_count(*x) > 0;
  task->has_dcos = has_x && dcos != nullptr;
  task->has_dsin = has_x && dsin != nullptr;
  if (!std::ranges::equal(dx.dims, grad.dims) || !std::ranges::equal(cos.dims, sin.dims) ||
      (task->has_dcos && !std::ranges::equal(cos.dims, dcos->dims)) ||
      (task->has_dsin && !std::ranges::equal(sin.dims, dsin->dims))) {
    return {ACLNN_ERR_PARAM_INVALID, text("each gradient has the shape of what it is of: grad is ", describe(grad),
                                          ", dx ", describe(dx), ", cos ", describe(cos), ", sin ", describe(sin))};
  }
  SOFTNPU_RETURN_IF_ERROR(TensorRows::make(grad, "grad", dims, ACL_DOUBLE, &task->grad));
  SOFTNPU_RETURN_IF_ERROR(TensorRows::make(cos, "cos", dims, ACL_DOUBLE, &task->cos));
  SOFTNPU_RETURN_IF_ERROR(TensorRows::make(sin, "sin", dims, ACL_DOUBLE, &task->sin));
  SOFTNPU_RETURN_IF_ERROR(TensorRows::make(dx, "dx", dims, ACL_DOUBLE, &task->dx));
  if (has_x) SOFTNPU_RETURN_IF_ERROR(TensorRows::make(*x, "x", dims, ACL_DOUBLE, &task->x));
  if (task->has_dcos) SOFTNPU_RETURN_IF_ERROR(TensorRows::make(*dcos, "dcos", dims, ACL_DOUBLE, &task->dcos));
  if (task->has_dsin) SOFTNPU_RETURN_IF_ERROR(TensorRows::make(*dsin, "dsin", dims, ACL_DOUBLE, &task->dsin));
  task->length = grad.dims.back();
  task->rows = task->length == 0 ? 0 : element_count(grad) / task->length;
  task->pairs = {task->length / 2, mode == 1};
  plan->workspace_bytes = task->workspace_bytes();
  plan->work = 48 * static_cast<double>(element_count(grad));
  plan->describe = describe_later({&grad});
  plan->run = [task = std::shared_ptr<const RotationGradient>(std::move(task))](void* workspace) {
    task->run(static_cast<double*>(workspace));
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
