// The gradient of padding by reflection and replication: each element of the input sums the gradients of its copies.

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "ops/core/convert/typed.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/iterate/walk.h"
#include "ops/tensor/shape/operators.h"
#include "ops/tensor/shape/padding.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// A range of indices of the padded dimension.
struct Span {
  int64_t first = 0;
  int64_t last = 0;  // one past the end
};
using Copies = std::array<Span, 3>;

// The copies of element `i` in the padded dimension: up to three spans, which may be empty.
Copies copies_of(PadMode mode, const Padding& padding, int64_t i) {
  const int64_t at = i + padding.before;
  const int64_t end = padding.before + padding.size;  // the source's end in the padded dimension
  Copies copies{Span{at, at + 1}};
  if (mode == PadMode::kReflect) {
    const int64_t left = padding.before - i;
    if (i >= 1 && left >= 0) copies[1] = {left, left + 1};
    const int64_t right = end + padding.size - 2 - i;
    if (i <= padding.size - 2) copies[2] = {right, right + 1};
    if (right >= padding.padded()) copies[2] = {};
  } else {
    if (i == 0) copies[1] = {0, padding.before};
    if (i == padding.size - 1) copies[2] = {end, padding.padded()};
  }
  for (Span& span : copies) {
    span.first = std::max<int64_t>(span.first, 0);
    span.last = std::min(span.last, padding.padded());
  }
  return copies;
}

// A padded dimension of both tensors.
struct PaddedDim {
  Padding padding{.size = 1};
  ptrdiff_t from = 0;
  ptrdiff_t to = 0;
};

struct Task {
  PadMode mode;
  View grad;
  View out;
  std::array<PaddedDim, 3> padded;  // unused ones come first and have one element
  Walk<2> outer;                    // grad, out

  template <typename Body>
  void for_copies(size_t k, int64_t i, const char* from, Body&& body) const {
    for (const Span& span : copies_of(mode, padded[k].padding, i)) {
      for (int64_t at = span.first; at < span.last; ++at) body(from + at * padded[k].from);
    }
  }

  // Adds a row of the gradient to the sums of the row that it pads.
  template <typename Element, typename Sum>
  void add_row(const char* row, Sum* sums) const {
    const Padding& x = padded[2].padding;
    const ptrdiff_t step = padded[2].from;
    const int64_t end = x.before + x.size;
    const int64_t first = std::max<int64_t>(0, -x.before);
    const int64_t last = std::min(x.size, x.padded() - x.before);
    const char* from = row + (first + x.before) * step;
    if (step == sizeof(typename Element::Stored)) {
      for (int64_t k = first; k < last; ++k, from += sizeof(typename Element::Stored)) sums[k] += Element::load(from);
    } else {
      for (int64_t k = first; k < last; ++k, from += step) sums[k] += Element::load(from);
    }
    const bool reflects = mode == PadMode::kReflect;
    for (int64_t at = 0; at < x.before; ++at) sums[reflects ? x.before - at : 0] += Element::load(row + at * step);
    for (int64_t at = std::max<int64_t>(end, 0); at < x.padded(); ++at) {
      sums[reflects ? x.size - 2 - (at - end) : x.size - 1] += Element::load(row + at * step);
    }
  }

  template <typename Element, typename Sum>
  void run_plane(const char* from, char* to, std::vector<Sum>* sums) const {
    const auto& [z, y, x] = padded;
    for (int64_t i = 0; i < z.padding.size; ++i) {
      for (int64_t j = 0; j < y.padding.size; ++j) {
        std::ranges::fill(*sums, Sum{});
        for_copies(0, i, from, [&](const char* layer) {
          for_copies(1, j, layer, [&](const char* row) { add_row<Element>(row, sums->data()); });
        });
        char* row = to + i * z.to + j * y.to;
        for (const Sum& sum : *sums) {
          Element::store(row, sum);
          row += x.to;
        }
      }
    }
  }

  template <typename Element>
  void run(int threads) const {
    const int64_t plane = out.count() / outer.count();
    const int64_t grain = std::max<int64_t>(1, kGrainElements / plane);
    parallel_for(outer.count(), grain, threads, [&](int64_t first, int64_t last) {
      std::vector<typename Element::Computed> sums(static_cast<size_t>(padded[2].padding.size));
      outer.for_each(first, last - first, [&](const Walk<2>::Offsets& at) {
        run_plane<Element>(grad.data + at[0], out.data + at[1], &sums);
      });
    });
  }
};

}  // namespace

Status pad_backward(PadMode mode, size_t dims, const aclTensor& grad, const aclTensor& self, const aclIntArray& padding,
                    const aclTensor& out, Plan* plan) {
  auto task = std::make_shared<Task>();
  task->mode = mode;
  SOFTNPU_RETURN_IF_ERROR(view_of(grad, "gradOutput", &task->grad));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "gradInput", &task->out));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(grad, out));
  std::vector<Padding> paddings;
  SOFTNPU_RETURN_IF_ERROR(check_paddings(mode, dims, self, padding, &paddings));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, self.dims, "gradInput"));
  Dims sizes = self.dims;
  for (const Padding& of : paddings) sizes[of.dim] = of.padded();
  SOFTNPU_RETURN_IF_ERROR(require_sizes(grad, sizes, "gradOutput"));
  const size_t missing = task->padded.size() - paddings.size();
  for (size_t k = 0; k < paddings.size(); ++k) {
    const size_t dim = paddings[k].dim;
    task->padded[missing + k] = {paddings[k], task->grad.strides[dim], task->out.strides[dim]};
  }
  for (size_t i = 0; i + dims < task->out.rank(); ++i) {
    task->outer.add(task->out.sizes[i], {task->grad.strides[i], task->out.strides[i]});
  }
  task->outer.join();
  if (is_integral(out.dtype)) {
    return {ACLNN_ERR_PARAM_INVALID, text("there is no gradient of ", name_of(out.dtype), " values")};
  }
  if (task->out.count() == 0) return plan_nothing(plan);
  const aclTensor* all[] = {&grad, &self, &out};
  if (std::optional<Plan> result = plan_pad_of_planes(mode, paddings, task->out, task->grad, true)) {
    *plan = *std::move(result);
    plan->describe = describe_later(all);
    return Status::ok();
  }
  const Effort effort = effort_of(2 * static_cast<double>(task->out.count()));
  plan->work = effort.work;
  plan->describe = describe_later(all);
  plan->run = [task = std::shared_ptr<const Task>(std::move(task)), effort](void*) {
    with_inexact(task->out.dtype, [&]<typename Element>() { task->run<Element>(effort.threads); });
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
