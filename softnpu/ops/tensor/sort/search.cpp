// searchsorted, bucketize, isin: positions of values among others.

#include <cstring>
#include <mutex>

#include "base/text.h"
#include "ops/core/convert/typed.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/iterate/view.h"
#include "ops/core/iterate/walk.h"
#include "ops/math/elementwise/operators.h"
#include "ops/tensor/sort/operators.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

struct Search {
  View sequence;
  View sorter;  // null data: the sequence itself is sorted
  View out;
  bool right = false;
  int64_t length = 0;
  ptrdiff_t stride = 0;
  ptrdiff_t sorter_stride = 0;
  Walk<4> walk;  // values, out, the sequence's line, the sorter's

  template <typename Element, typename T>
  int64_t location(const char* line, const char* order, T value) const {
    int64_t first = 0;
    int64_t last = length;
    while (first < last) {
      const int64_t middle = first + (last - first) / 2;
      int64_t at = middle;
      if (order != nullptr) std::memcpy(&at, order + middle * sorter_stride, sizeof at);
      if (at < 0 || at >= length) return -1;
      const auto here = static_cast<T>(Element::load(line + at * stride));
      if (right ? !(here > value) : !(here >= value)) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    return first;
  }

  template <typename Element, typename Value>
  Status run(int threads, const Value& value_at) const {
    std::mutex mutex;  // guards status
    Status status;
    parallel_for(walk.count(), kGrainElements / 8, threads, [&](int64_t first, int64_t last) {
      walk.for_each(first, last - first, [&](const Walk<4>::Offsets& at) {
        const char* order = sorter.data == nullptr ? nullptr : sorter.data + at[3];
        const int64_t found = location<Element>(sequence.data + at[2], order, value_at(at[0]));
        if (found < 0) {
          std::lock_guard lock(mutex);
          status = {ACLNN_ERR_PARAM_INVALID, text("sorter holds an index out of range for a line of size ", length)};
        } else if (out.dtype == ACL_INT64) {
          std::memcpy(out.data + at[1], &found, sizeof found);
        } else {
          const auto narrow = static_cast<int32_t>(found);
          std::memcpy(out.data + at[1], &narrow, sizeof narrow);
        }
      });
    });
    return status;
  }
};

// Opens all tensors except the values. For a single value its view has only sizes and strides.
Status open(const aclTensor& sequence, const aclTensor* sorter, const aclTensor& out, const View& values, bool right,
            Search* task) {
  SOFTNPU_RETURN_IF_ERROR(view_of(sequence, "the sequence", &task->sequence));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &task->out));
  SOFTNPU_RETURN_IF_ERROR(require_index(out, "out"));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, values.sizes, "out"));
  if (is_complex(sequence.dtype)) {
    return {ACLNN_ERR_PARAM_INVALID, text("the sequence is ", describe(sequence), "; complex numbers have no order")};
  }
  const View& lines = task->sequence;
  if (lines.rank() == 0) return {ACLNN_ERR_PARAM_INVALID, "the sequence has no dimensions; it has one or more"};
  const size_t last = lines.rank() - 1;
  bool fits = lines.rank() == 1 || lines.rank() == values.rank();
  for (size_t i = 0; fits && lines.rank() > 1 && i < last; ++i) fits = lines.sizes[i] == values.sizes[i];
  if (!fits) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("the sequence of the shape ", describe_shape(lines.sizes), " does not fit to values of the shape ",
                 describe_shape(values.sizes), ": all but the last dimension are the same, or it is a vector")};
  }
  if (sorter != nullptr) {
    SOFTNPU_RETURN_IF_ERROR(view_of(*sorter, "sorter", &task->sorter));
    SOFTNPU_RETURN_IF_ERROR(require_sizes(*sorter, sequence.dims, "sorter"));
    if (sorter->dtype != ACL_INT64) {
      return {ACLNN_ERR_PARAM_INVALID, text("sorter is ", describe(*sorter), "; it is of int64")};
    }
    task->sorter_stride = task->sorter.strides[last];
  }
  task->right = right;
  task->length = lines.sizes[last];
  task->stride = lines.strides[last];
  const bool shared = lines.rank() == 1;
  for (size_t i = 0; i < values.rank(); ++i) {
    const bool has_line = !shared && i < last;
    task->walk.add(values.sizes[i], {values.strides[i], task->out.strides[i], has_line ? lines.strides[i] : 0,
                                     has_line && task->sorter.data != nullptr ? task->sorter.strides[i] : 0});
  }
  task->walk.join();
  return Status::ok();
}

Effort prepare(const Search& task, std::string message, Plan* plan) {
  const Effort effort = effort_of(4 * static_cast<double>(task.walk.count()));
  plan->work = effort.work;
  plan->describe = [message = std::move(message)] { return message; };
  return effort;
}

}  // namespace

Status search_sorted(const aclTensor& sequence, const aclTensor& self, bool right, const aclTensor* sorter,
                     const aclTensor& out, Plan* plan) {
  Search task;
  View values;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", &values));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(sequence, self));
  SOFTNPU_RETURN_IF_ERROR(open(sequence, sorter, out, values, right, &task));
  const aclTensor* all[] = {&sequence, &self, &out};
  const Effort effort = prepare(task, describe(all), plan);
  if (values.count() == 0) return plan_nothing(plan);
  plan->run = [task, values, effort](void*) {
    return with_real(task.sequence.dtype, [&]<typename Element>() {
      return task.run<Element>(effort.threads, [&](ptrdiff_t at) { return Element::load(values.data + at); });
    });
  };
  return Status::ok();
}

Status search_sorted(const aclTensor& sequence, const aclScalar& self, bool right, const aclTensor* sorter,
                     const aclTensor& out, Plan* plan) {
  Search task;
  SOFTNPU_RETURN_IF_ERROR(open(sequence, sorter, out, View(), right, &task));
  const aclTensor* all[] = {&sequence, &out};
  prepare(task, describe(all), plan);
  const bool whole = self.is_integral() && is_integral(sequence.dtype);
  plan->run = [task, whole, integer = self.as_int64(), number = self.as_double()](void*) {
    return with_real(task.sequence.dtype, [&]<typename Element>() {
      if (whole) return task.run<Element>(1, [&](ptrdiff_t) { return integer; });
      return task.run<Element>(1, [&](ptrdiff_t) { return number; });
    });
  };
  return Status::ok();
}

Status is_in(const aclTensor& elements, const aclScalar& test, bool invert, const aclTensor& out, Plan* plan) {
  return binary(invert ? MapOp::kNe : MapOp::kEq, elements, test, out, plan);
}

Status is_in(const aclScalar& element, const aclTensor& tests, bool invert, const aclTensor& out, Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(tests, "testElements", &from));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, {}, "out"));
  if (out.dtype != ACL_BOOL) return {ACLNN_ERR_PARAM_INVALID, text("out is ", describe(out), "; it is of bool")};
  if (is_complex(tests.dtype)) {
    return {ACLNN_ERR_PARAM_INVALID, text("testElements are ", describe(tests), "; complex numbers are not supported")};
  }
  const int64_t count = from.count();
  plan->work = effort_of(static_cast<double>(count)).work;
  const aclTensor* both[] = {&tests, &out};
  plan->describe = describe_later(both);
  const bool whole = element.is_integral() && is_integral(tests.dtype);
  plan->run = [=, integer = element.as_int64(), number = element.as_double()](void*) {
    Walk<1> walk;
    for (size_t i = 0; i < from.rank(); ++i) walk.add(from.sizes[i], {from.strides[i]});
    walk.join();
    bool found = false;
    with_real(from.dtype, [&]<typename Element>() {
      walk.for_each(0, count, [&](const Walk<1>::Offsets& at) {
        const auto value = Element::load(from.data + at[0]);
        found = found || (whole ? static_cast<int64_t>(value) == integer : static_cast<double>(value) == number);
      });
    });
    *to.data = found != invert ? 1 : 0;
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
