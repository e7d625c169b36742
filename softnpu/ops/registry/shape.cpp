// Operators that move elements, invoked by type name.

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "nnopbase/overlap.h"
#include "ops/core/copy/strided_copy.h"
#include "ops/core/view/view.h"
#include "ops/math/elementwise/operators.h"
#include "ops/registry/infer.h"
#include "ops/registry/invalid_call.h"
#include "ops/registry/registry.h"
#include "ops/registry/run_both.h"
#include "ops/tensor/index/operators.h"
#include "ops/tensor/shape/operators.h"
#include "ops/tensor/sort/operators.h"

namespace softnpu {
namespace {

// Starts and sizes of each dimension; -1 means the rest.
Status slice_of(const aclTensor& x, const aclIntArray& first, const aclIntArray& sizes, aclTensor* out) {
  aclTensor view = x;
  if (first.size() != view.dims.size() || sizes.size() != view.dims.size()) {
    return invalid_call("a start and a size for each dimension are needed");
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t size = sizes[i] == -1 ? view.dims[i] - first[i] : sizes[i];
    if (first[i] < 0 || size < 0 || first[i] > view.dims[i] - size) return invalid_call("the slice leaves the tensor");
    view.offset += first[i] * view.strides[i];
    view.dims[i] = size;
  }
  *out = view;
  return Status::ok();
}

Status plan_slice(Operands& of, Plan* plan) {
  aclTensor view;
  SOFTNPU_RETURN_IF_ERROR(slice_of(of.in(0), of.numbers(1), of.numbers(2), &view));
  return plan_copy(view, of.out(), plan);
}

Status infer_slice(Operands& of) {
  aclTensor view;
  SOFTNPU_RETURN_IF_ERROR(slice_of(of.in(0), of.numbers(1), of.numbers(2), &view));
  return like(view, of.out());
}

// The same with starts and sizes as attributes.
Status plan_slice_of(Operands& of, Plan* plan) {
  aclTensor view;
  SOFTNPU_RETURN_IF_ERROR(slice_of(of.in(0), of.integers("offsets"), of.integers("size"), &view));
  return plan_copy(view, of.out(), plan);
}

Status infer_slice_of(Operands& of) {
  aclTensor view;
  SOFTNPU_RETURN_IF_ERROR(slice_of(of.in(0), of.integers("offsets"), of.integers("size"), &view));
  return like(view, of.out());
}

// The part of `x` with the sizes of the second input, from `axis` on; one offset for all of these dimensions, or one
// for each.
Status plan_crop(Operands& of, Plan* plan) {
  const aclTensor& x = of.in(0);
  const Dims& wanted = of.in(1).dims;
  const aclIntArray offsets = of.integers("offsets");
  size_t axis = 0;
  SOFTNPU_RETURN_IF_ERROR(find_dim(of.integer("axis"), x.dims.size(), &axis));
  const size_t cropped = x.dims.size() - axis;
  if (wanted.size() != x.dims.size() || (offsets.size() != 1 && offsets.size() != cropped)) {
    return invalid_call("sizes for each dimension, and one offset or one for each that is cropped, are needed");
  }
  aclIntArray first;
  aclIntArray sizes;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    first.values.push_back(i < axis ? 0 : offsets[offsets.size() == 1 ? 0 : i - axis]);
    sizes.values.push_back(i < axis ? x.dims[i] : wanted[i]);
  }
  aclTensor view;
  SOFTNPU_RETURN_IF_ERROR(slice_of(x, first, sizes, &view));
  return plan_copy(view, of.out(), plan);
}

// The same elements in their order, under the result's sizes.
Status plan_reshape(Operands& of, Plan* plan) {
  const aclTensor& x = of.in(0);
  aclTensor to = of.out();
  if (element_count(x) != element_count(to)) return invalid_call("the result has another number of elements");
  to.dims = x.dims;
  if (!set_contiguous_strides(to.dims, &to.strides)) return invalid_call("the tensor has too many elements");
  return plan_copy(x, to, plan);
}

Status flattened(const aclTensor& x, int64_t axis, aclTensor& y) {
  size_t at = 0;
  SOFTNPU_RETURN_IF_ERROR(find_dim(axis, x.dims.size() + 1, &at));
  std::array<int64_t, 2> sizes{1, 1};
  for (size_t i = 0; i < x.dims.size(); ++i) sizes[i < at ? 0 : 1] *= x.dims[i];
  return sized(ints({sizes[0], sizes[1]}), x.dtype, y);
}

// One size may be -1: what the others leave.
Status reshaped(Operands& of, const aclTensor& x, aclTensor& y) {
  if (of.integer("axis") != 0 || of.integer("num_axes") != -1) {
    return invalid_call("all dimensions are reshaped: axis 0, num_axes -1");
  }
  aclIntArray sizes = of.numbers(1);
  Checked rest = 1;
  int64_t* open = nullptr;
  for (int64_t& size : sizes.values) {
    if (size == -1 && open == nullptr) {
      open = &size;
    } else if (size < 0) {
      return invalid_call("sizes are positive, and one may be -1");
    } else {
      rest = rest * size;
    }
  }
  const int64_t count = element_count(x);
  if (open != nullptr) {
    if (!rest.fits() || rest.value() == 0 || count % rest.value() != 0) {
      return invalid_call("the size -1 cannot be computed");
    }
    *open = count / rest.value();
  } else if (!rest.is(count)) {
    return invalid_call("the result has another number of elements");
  }
  return sized(sizes, x.dtype, y);
}

// Starts, ends and steps of the first dimensions. Each mask has a bit per dimension: begin and end masks extend the
// range, shrink_axis_mask selects only the element at the start.
Status strided_slice_of(Operands& of, aclTensor* out) {
  const aclTensor& self = of.in(0);
  const aclIntArray begin = of.numbers(1);
  const aclIntArray end = of.numbers(2);
  const aclIntArray steps = of.numbers(3);
  const int64_t begin_mask = of.integer("begin_mask");
  const int64_t end_mask = of.integer("end_mask");
  const int64_t shrink_mask = of.integer("shrink_axis_mask");
  if (of.integer("ellipsis_mask") != 0 || of.integer("new_axis_mask") != 0) {
    return invalid_call("slices without an ellipsis and without new dimensions are implemented");
  }
  const size_t count = begin.size();
  if (end.size() != count || steps.size() != count || count > self.dims.size()) {
    return invalid_call("a start, an end and a step for the first dimensions are needed");
  }
  aclTensor view = self;
  view.dims = {};
  view.strides = {};
  for (size_t i = 0; i < self.dims.size(); ++i) {
    if (i >= count) {
      view.dims.push_back(self.dims[i]);
      view.strides.push_back(self.strides[i]);
      continue;
    }
    const int64_t size = self.dims[i];
    if (steps[i] <= 0) return invalid_call("the steps have to be positive");
    const auto within = [size](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
    const int64_t first = (begin_mask >> i & 1) != 0 ? 0 : within(begin[i]);
    const int64_t last = (end_mask >> i & 1) != 0 ? size : within(end[i]);
    view.offset += first * self.strides[i];
    if ((shrink_mask >> i & 1) != 0) {
      if (first >= size) return invalid_call("an index is out of range");
      continue;
    }
    view.dims.push_back(last <= first ? 0 : (last - first - 1) / steps[i] + 1);
    view.strides.push_back(self.strides[i] * steps[i]);
  }
  *out = view;
  return Status::ok();
}

Status plan_strided_slice(Operands& of, Plan* plan) {
  aclTensor view;
  SOFTNPU_RETURN_IF_ERROR(strided_slice_of(of, &view));
  return plan_copy(view, of.out(), plan);
}

Status infer_strided_slice(Operands& of) {
  aclTensor view;
  SOFTNPU_RETURN_IF_ERROR(strided_slice_of(of, &view));
  return like(view, of.out());
}

// Views `tensor`'s memory with other sizes, strides and an offset in elements.
Status seen_as(const aclTensor& tensor, const aclIntArray& sizes, const aclIntArray& strides, const aclIntArray& offset,
               aclTensor* view) {
  if (sizes.size() != strides.size() || offset.size() != 1)
    return invalid_call("sizes, strides and one offset are needed");
  *view = tensor;
  view->dims = Dims(sizes.begin(), sizes.end());
  view->strides = Dims(strides.begin(), strides.end());
  view->offset = offset[0];
  const bool are_sizes = std::ranges::all_of(sizes, [](int64_t size) { return size >= 0; });
  const auto element_bytes = static_cast<int64_t>(aclDataTypeSize(tensor.dtype));
  if (!are_sizes || view->offset < 0 ||
      !has_extent(view->dims.data(), view->strides.data(), sizes.size(), view->offset, element_bytes)) {
    return invalid_call("the sizes, strides and the offset do not make a tensor");
  }
  return Status::ok();
}

Status plan_as_strided(Operands& of, Plan* plan) {
  aclTensor view;
  SOFTNPU_RETURN_IF_ERROR(seen_as(of.in(0), of.numbers(1), of.numbers(2), of.numbers(3), &view));
  return plan_copy(view, of.out(), plan);
}

// (to, sizes, strides, offset, from, sizes, strides, offset): copies a part of `from` to a part of `to`, which is also
// the result.
Status plan_view_copy(Operands& of, Plan* plan) {
  std::array<aclTensor, 2> views;
  for (size_t i = 0; i < 2; ++i) {
    SOFTNPU_RETURN_IF_ERROR(
        seen_as(of.in(4 * i), of.numbers(4 * i + 1), of.numbers(4 * i + 2), of.numbers(4 * i + 3), &views[i]));
  }
  if (overlaps_itself(views[0])) return invalid_call("elements of the part that is written share a place in memory");
  if (of.out().data != of.in(0).data) return invalid_call("the result is not the first input");
  return plan_copy(views[1], views[0], plan);
}

Status plan_broadcast(Operands& of, Plan* plan) {
  (void)of.numbers(1);  // the result's sizes, redundant
  return plan_copy(of.in(0), of.out(), plan);
}

// Paddings start with the first dimension; the planners need the last one first.
aclIntArray reversed_pairs(const aclIntArray& pairs) {
  aclIntArray reversed;
  for (size_t i = pairs.size(); i >= 2; i -= 2) {
    reversed.values.push_back(pairs[i - 2]);
    reversed.values.push_back(pairs[i - 1]);
  }
  return reversed;
}

Status plan_pad(Operands& of, Plan* plan) {
  return constant_pad(of.in(0), reversed_pairs(of.numbers(1)), integer_scalar(0), of.out(), plan);
}

// The first pairs are of batch and channels, which are not padded.
Status plan_mode(PadMode mode, const aclTensor& self, const aclIntArray& pairs, const aclTensor& out, Plan* plan) {
  if (pairs.size() % 2 != 0 || pairs.size() != 2 * self.dims.size()) {
    return invalid_call("a pair of paddings for each dimension is needed");
  }
  aclIntArray last = reversed_pairs(pairs);
  size_t dims = self.dims.size();
  while (dims > 1 && last[2 * dims - 1] == 0 && last[2 * dims - 2] == 0) --dims;
  dims = std::clamp<size_t>(dims, 1, 3);
  last.values = SmallVector<int64_t, 8>(last.begin(), last.begin() + 2 * dims);
  return pad(mode, dims, self, last, out, plan);
}

// Fills the whole result with the one element of `value`, then copies `self` to its middle. Negative paddings crop.
Status pad_with_element(const aclTensor& self, const aclIntArray& pairs, const aclTensor& value, const aclTensor& out,
                        Plan* plan) {
  if (pairs.size() != 2 * self.dims.size() || out.dims.size() != self.dims.size() || element_count(value) != 1) {
    return invalid_call("a pair of paddings for each dimension and one value are needed");
  }
  aclTensor from = self;
  aclTensor to = out;
  aclTensor element = value;
  element.dims = {};
  element.strides = {};
  for (size_t i = 0; i < self.dims.size(); ++i) {
    const int64_t before = pairs[2 * i];
    const int64_t after = pairs[2 * i + 1];
    if (!(checked(self.dims[i]) + before + after).is(out.dims[i]))
      return invalid_call("the result does not have the padded sizes");
    from.offset += std::max<int64_t>(0, -before) * from.strides[i];
    to.offset += std::max<int64_t>(0, before) * to.strides[i];
    from.dims[i] += std::min<int64_t>(0, before) + std::min<int64_t>(0, after);
    if (from.dims[i] < 0) return invalid_call("more is cropped than there is");
    to.dims[i] = from.dims[i];
  }
  Plan whole;
  Plan middle;
  SOFTNPU_RETURN_IF_ERROR(cast(element, out, &whole));
  SOFTNPU_RETURN_IF_ERROR(plan_copy(from, to, &middle));
  run_both(std::move(whole), std::move(middle), plan);
  return Status::ok();
}

Status plan_pad_with(Operands& of, Plan* plan) {
  const std::string mode = of.words("mode");
  if (!of.flag("paddings_contiguous")) return invalid_call("paddings in pairs are implemented");
  if (mode == "edge") return plan_mode(PadMode::kReplicate, of.in(0), of.numbers(1), of.out(), plan);
  if (mode == "reflect") return plan_mode(PadMode::kReflect, of.in(0), of.numbers(1), of.out(), plan);
  if (mode != "constant") return invalid_call("the modes constant, edge and reflect are implemented");
  aclScalar number = integer_scalar(0);
  const aclIntArray pairs = reversed_pairs(of.numbers(1));
  const MapInput value = of.count() > 2 ? of.value(2, &number) : number;
  if (value.scalar != nullptr) return constant_pad(of.in(0), pairs, *value.scalar, of.out(), plan);
  return pad_with_element(of.in(0), of.numbers(1), *value.tensor, of.out(), plan);
}

Status plan_mirror(Operands& of, Plan* plan) {
  if (of.words("mode") != "REFLECT") return invalid_call("the mode REFLECT is implemented");
  return plan_mode(PadMode::kReflect, of.in(0), of.numbers(1), of.out(), plan);
}

Status plan_fill(Operands& of, Plan* plan) {
  aclScalar number;
  (void)of.numbers(0);  // the result's sizes, redundant
  const MapInput value = of.value(1, &number);
  return value.scalar != nullptr ? fill(of.out(), *value.scalar, plan) : cast(*value.tensor, of.out(), plan);
}

// A tensor of one element, or a number.
Status plan_fill_value(Operands& of, Plan* plan) {
  aclScalar number;
  const MapInput value = of.value(0, &number);
  return value.scalar != nullptr ? fill(of.out(), *value.scalar, plan) : plan_copy(*value.tensor, of.out(), plan);
}

Status plan_top(Operands& of, Plan* plan) {
  const aclIntArray k = of.numbers(1);
  if (k.size() != 1) return invalid_call("one k is needed");
  return topk(of.in(0), k[0], of.integer("dim"), of.flag("largest"), of.flag("sorted"), of.out(0), of.out(1), plan);
}

// One-hot along a new dimension, `axis`. With two numbers: fills with the second, then writes the first at the classes.
Status plan_one_hot(Operands& of, Plan* plan) {
  aclScalar on;
  aclScalar off;
  const int64_t classes = of.number(1).as_int64();
  const MapInput on_value = of.value(2, &on);
  const MapInput off_value = of.value(3, &off);
  const int64_t axis = of.integer("axis");
  if (on_value.tensor != nullptr && off_value.tensor != nullptr) {
    return one_hot(of.in(0), classes, *on_value.tensor, *off_value.tensor, axis, of.out(), plan);
  }
  if (on_value.tensor != nullptr || off_value.tensor != nullptr)
    return invalid_call("two tensors or two numbers are needed");
  const auto rank = static_cast<int64_t>(of.out().dims.size());
  const int64_t along = axis < 0 ? axis + rank : axis;
  if (rank != static_cast<int64_t>(of.in(0).dims.size()) + 1 || along < 0 || along >= rank) {
    return invalid_call("the result has one dimension more, the one of the classes");
  }
  Plan whole;
  Plan marks;
  const aclTensor index = unsqueeze(of.in(0), static_cast<size_t>(along));
  SOFTNPU_RETURN_IF_ERROR(fill(of.out(), off, &whole));
  SOFTNPU_RETURN_IF_ERROR(scatter(of.out(), along, index, on, 0, true, of.out(), &marks));
  run_both(std::move(whole), std::move(marks), plan);
  return Status::ok();
}

Status plan_linspace(Operands& of, Plan* plan) {
  (void)of.numbers(2);  // the number of elements, redundant
  return linspace(of.number(0), of.number(1), element_count(of.out()), of.out(), plan);
}

}  // namespace

}  // namespace softnpu

#include "opgen/rows_shape.inc"
