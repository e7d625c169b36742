// arange, range, linspace, logspace: functions of the index.

#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>

#include "base/text.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/iterate/view.h"
#include "ops/core/iterate/walk.h"
#include "ops/tensor/shape/operators.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// The type in which numbers of `dtype` are computed.
aclDataType compute_type(aclDataType dtype) {
  if (is_integral(dtype)) return ACL_INT64;
  return is_complex(dtype) ? ACL_COMPLEX128 : ACL_DOUBLE;
}

// out[i] = value(i), in the C++ type of compute_type(out's). Several threads call `value`.
template <typename T, typename Value>
Status plan_sequence(const aclTensor& out, Value value, Plan* plan) {
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  const int64_t count = to.count();
  if (count == 0) return plan_nothing(plan);
  const Effort effort = effort_of(static_cast<double>(count));
  plan->work = effort.work;
  plan->describe = [message = describe(out)] { return message; };
  plan->run = [to, count, effort, value, write = ElementWriter(compute_type(out.dtype), out.dtype)](void*) {
    Walk<1> walk;
    for (size_t i = 0; i < to.rank(); ++i) walk.add(to.sizes[i], {to.strides[i]});
    walk.join();
    const ptrdiff_t stride = walk.inner().strides[0];
    parallel_for(count, kGrainElements, effort.threads, [&](int64_t first, int64_t last) {
      constexpr int64_t kTile = 256;
      alignas(64) T tile[kTile];
      int64_t at = first;
      walk.for_runs(first, last - first, [&](const Walk<1>::Offsets& offsets, int64_t run) {
        char* address = to.data + offsets[0];
        while (run > 0) {
          const int64_t here = std::min(kTile, run);
          for (int64_t i = 0; i < here; ++i) tile[i] = value(at + i);
          write.write(tile, static_cast<size_t>(here), address, stride);
          address += here * stride;
          at += here;
          run -= here;
        }
      });
    });
    return Status::ok();
  };
  return Status::ok();
}

Status check_step(const aclScalar& start, const aclScalar& end, const aclScalar& step) {
  if (step.as_double() == 0) return {ACLNN_ERR_PARAM_INVALID, "the step is 0"};
  if (!std::isfinite(start.as_double()) || !std::isfinite(end.as_double())) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("the range from ", start.as_double(), " to ", end.as_double(), " is not finite")};
  }
  if ((end.as_double() - start.as_double()) * (step.as_double() > 0 ? 1 : -1) < 0) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("no steps of ", step.as_double(), " lead from ", start.as_double(), " to ", end.as_double())};
  }
  return Status::ok();
}

Status steps_from(const aclScalar& start, const aclScalar& step, const aclTensor& out, Plan* plan) {
  if (is_integral(out.dtype)) {
    const auto value = [first = static_cast<uint64_t>(start.as_int64()), by = static_cast<uint64_t>(step.as_int64())](
                           int64_t i) { return static_cast<int64_t>(first + static_cast<uint64_t>(i) * by); };
    return plan_sequence<int64_t>(out, value, plan);
  }
  const double first = start.as_double();
  const double by = step.as_double();
  if (is_complex(out.dtype)) return {ACLNN_ERR_PARAM_INVALID, "a range of complex numbers does not exist"};
  return plan_sequence<double>(
      out, [first, by](int64_t i) { return first + static_cast<double>(i) * by; }, plan);
}

Status check_sequence(const aclTensor& out, int64_t count) {
  if (!is_known(out.dtype)) return {ACLNN_ERR_PARAM_INVALID, "out has a data type that no operator computes with"};
  if (element_count(out) == count) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("out is ", describe(out), " where ", count, " elements are needed")};
}

// Counts each half from the nearer end, as in PyTorch: the last element is exactly `end`.
template <typename T>
T between(T start, T end, T step, int64_t i, int64_t steps) {
  if (i < steps / 2) return start + step * static_cast<double>(i);
  return end - step * static_cast<double>(steps - 1 - i);
}

// Applies `map` to the value of each step, a double or a complex number.
template <typename Map>
Status plan_steps(const aclScalar& start, const aclScalar& end, int64_t steps, const aclTensor& out, Map map,
                  Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_sequence(out, steps));
  const double gaps = static_cast<double>(std::max<int64_t>(steps - 1, 1));
  if (is_complex(out.dtype)) {
    using Complex = std::complex<double>;
    const Complex first = start.as_complex();
    const Complex last = steps == 1 ? first : end.as_complex();
    const Complex step = (last - first) / gaps;
    return plan_sequence<Complex>(
        out, [=](int64_t i) { return map(between(first, last, step, i, steps)); }, plan);
  }
  double first = start.as_double();
  double last = end.as_double();
  if (is_integral(out.dtype)) {
    first = static_cast<double>(start.as_int64());
    last = static_cast<double>(end.as_int64());
  }
  if (steps == 1) last = first;
  const double step = (last - first) / gaps;
  if (is_integral(out.dtype)) {
    const auto value = [=](int64_t i) { return integer_of<int64_t>(map(between(first, last, step, i, steps))); };
    return plan_sequence<int64_t>(out, value, plan);
  }
  return plan_sequence<double>(
      out, [=](int64_t i) { return map(between(first, last, step, i, steps)); }, plan);
}

}  // namespace

Status arange(const aclScalar& start, const aclScalar& end, const aclScalar& step, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_step(start, end, step));
  if (!is_known(out.dtype)) return check_sequence(out, 0);
  double count = std::ceil((end.as_double() - start.as_double()) / step.as_double());
  if (start.is_integral() && end.is_integral() && step.is_integral()) {
    // Integers are exact: doubles have only 53 bits.
    const __int128 distance = static_cast<__int128>(end.as_int64()) - start.as_int64();
    const __int128 by = step.as_int64();
    const __int128 whole = (distance + by - (by > 0 ? 1 : -1)) / by;
    count = static_cast<double>(whole);
  }
  // Rounding the ends to the result's type may change its size by one: the result is filled as it is.
  if (std::abs(count - static_cast<double>(element_count(out))) > 1) {
    return check_sequence(out, static_cast<int64_t>(count));
  }
  return steps_from(start, step, out, plan);
}

Status range(const aclScalar& start, const aclScalar& end, const aclScalar& step, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_step(start, end, step));
  if (!is_known(out.dtype)) return check_sequence(out, 0);
  const double count = std::floor((end.as_double() - start.as_double()) / step.as_double()) + 1;
  if (std::abs(count - static_cast<double>(element_count(out))) > 1) {
    return check_sequence(out, static_cast<int64_t>(count));
  }
  return steps_from(start, step, out, plan);
}

Status linspace(const aclScalar& start, const aclScalar& end, int64_t steps, const aclTensor& out, Plan* plan) {
  return plan_steps(
      start, end, steps, out, [](auto value) { return value; }, plan);
}

Status logspace(const aclScalar& start, const aclScalar& end, int64_t steps, double base, const aclTensor& out,
                Plan* plan) {
  return plan_steps(
      start, end, steps, out, [base](auto value) { return std::pow(base, value); }, plan);
}

}  // namespace softnpu
