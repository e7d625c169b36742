// flip, slice, roll, repeat, permute, channel_shuffle.

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/element.h"
#include "ops/tensor/shape/chunks.h"
#include "ops/tensor/shape/operators.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Opens views of both; checks that their dtypes are equal.
Status open(const aclTensor& self, const aclTensor& out, View* from, View* to) {
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", from));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", to));
  return same_dtype(self, out);
}

// The upward shift of [0, size), from 0 to size - 1.
int64_t wrapped_shift(int64_t shift, int64_t size) {
  const int64_t rest = shift % size;
  return rest < 0 ? rest + size : rest;
}

// Rolls the elements in their logical order.
Status roll_flat(const View& from, const View& to, int64_t shift, Describe message, Plan* plan) {
  const int64_t count = to.count();
  if (count == 0) return plan_nothing(plan);
  const Effort effort = effort_of(static_cast<double>(count));
  plan->work = effort.work;
  plan->describe = std::move(message);
  plan->run = [from = from, to = to, shift = wrapped_shift(shift, count), count, effort](void*) {
    const Walk<1> write = walk_of(to);
    const Walk<1> read = walk_of(from);
    with_element(static_cast<size_t>(to.element()), [&]<typename T>() {
      parallel_for(count, kGrainElements, effort.threads, [&](int64_t first, int64_t last) {
        int64_t at = first < shift ? first + count - shift : first - shift;
        write.for_runs(first, last - first, [&](const Walk<1>::Offsets& start, int64_t run) {
          char* address = to.data + start[0];
          while (run > 0) {
            const int64_t group = std::min(run, count - at);
            read.for_runs(at, group, [&](const Walk<1>::Offsets& source, int64_t here) {
              const char* element = from.data + source[0];
              for (int64_t i = 0; i < here; ++i) {
                std::memcpy(address, element, sizeof(T));
                address += write.inner().strides[0];
                element += read.inner().strides[0];
              }
            });
            run -= group;
            at = at + group == count ? 0 : at + group;
          }
        });
      });
    });
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace

Status flip(const aclTensor& self, const aclIntArray& dims, const aclTensor& out, Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(open(self, out, &from, &to));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, self.dims, "out"));
  std::vector<bool> seen(from.rank() + 1);
  for (int64_t dim : dims) {
    size_t i = 0;
    SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, from.rank(), &i));
    if (seen[i]) return {ACLNN_ERR_PARAM_INVALID, text("dimension ", i, " is flipped twice")};
    seen[i] = true;
    if (i < from.rank()) from = from.flip(i);
  }
  CopyList list;
  list.add(to, from);
  return list.finish(describe_later({&self, &out}), plan);
}

Status slice(const aclTensor& self, int64_t dim, int64_t start, int64_t end, int64_t step, const aclTensor& out,
             Plan* plan) {
  View from;
  View to;
  size_t i = 0;
  SOFTNPU_RETURN_IF_ERROR(open(self, out, &from, &to));
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, from.rank(), &i));
  if (from.rank() == 0) return {ACLNN_ERR_PARAM_INVALID, "a tensor without dimensions has no slices"};
  if (step < 1) return {ACLNN_ERR_PARAM_INVALID, text("the step is ", step, ", where 1 or more is needed")};
  const int64_t size = from.sizes[i];
  const auto location = [size](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
  const int64_t first = location(start);
  const int64_t length = std::max<int64_t>(0, location(end) - first);
  const int64_t count = length / step + (length % step != 0 ? 1 : 0);
  if (count > 0) from = from.narrow(i, first, length);
  from.sizes[i] = count;
  if (count > 1) from.strides[i] *= step;
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, from.sizes, "out"));
  CopyList list;
  list.add(to, from);
  return list.finish(describe_later({&self, &out}), plan);
}

Status roll(const aclTensor& self, const aclIntArray& shifts, const aclIntArray& dims, const aclTensor& out,
            Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(open(self, out, &from, &to));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, self.dims, "out"));
  if (dims.empty() && shifts.size() == 1) return roll_flat(from, to, shifts[0], describe_later({&self, &out}), plan);
  if (shifts.size() != dims.size() || dims.empty()) {
    return {ACLNN_ERR_PARAM_INVALID, text(shifts.size(), " shifts for ", dims.size(), " dimensions")};
  }
  Dims moved(from.rank() + 1, 0);
  for (size_t k = 0; k < dims.size(); ++k) {
    size_t i = 0;
    SOFTNPU_RETURN_IF_ERROR(wrap_dim(dims[k], from.rank(), &i));
    if (i < from.rank() && from.sizes[i] > 0) {
      moved[i] = wrapped_shift(moved[i] + wrapped_shift(shifts[k], from.sizes[i]), from.sizes[i]);
    }
  }
  std::vector<PiecesOf> pieces;
  for (size_t i = 0; i < from.rank(); ++i) {
    const int64_t size = from.sizes[i];
    const int64_t shift = moved[i];
    if (shift != 0) pieces.push_back({i, {{0, size - shift, shift, 1}, {shift, 0, size - shift, 1}}});
  }
  CopyList list;
  SOFTNPU_RETURN_IF_ERROR(add_pieces(to, from, pieces, nullptr, &list));
  return list.finish(describe_later({&self, &out}), plan);
}

Status repeat(const aclTensor& self, const aclIntArray& repeats, const aclTensor& out, Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(open(self, out, &from, &to));
  if (repeats.size() < from.rank()) {
    return {ACLNN_ERR_PARAM_INVALID,
            text(repeats.size(), " repeats for a tensor of ", from.rank(), " dimensions; each needs one")};
  }
  while (from.rank() < repeats.size()) from = from.insert(0, 1, 0);
  Dims sizes = from.sizes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (repeats[i] < 0) return {ACLNN_ERR_PARAM_INVALID, text("repeats hold the negative number ", repeats[i])};
    SOFTNPU_RETURN_IF_ERROR(fit(checked(sizes[i]) * repeats[i], "a size of the result", &sizes[i]));
  }
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, sizes, "out"));
  // Splits each dimension into two: the repetitions and the source's own.
  for (size_t i = repeats.size(); i-- > 0;) {
    const int64_t own = from.sizes[i];
    to.sizes[i] = own;
    to = to.insert(i, repeats[i], own * to.strides[i]);
    from = from.insert(i, repeats[i], 0);
  }
  CopyList list;
  list.add(to, from);
  return list.finish(describe_later({&self, &out}), plan);
}

Status permute(const aclTensor& self, const aclIntArray& dims, const aclTensor& out, Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(open(self, out, &from, &to));
  if (dims.size() != from.rank()) {
    return {ACLNN_ERR_PARAM_INVALID, text(dims.size(), " dimensions are given for a tensor of ", from.rank())};
  }
  View permuted = from;
  std::vector<bool> seen(from.rank());
  for (size_t k = 0; k < dims.size(); ++k) {
    size_t i = 0;
    SOFTNPU_RETURN_IF_ERROR(wrap_dim(dims[k], from.rank(), &i));
    if (seen[i]) return {ACLNN_ERR_PARAM_INVALID, text("dimension ", i, " is there twice")};
    seen[i] = true;
    permuted.sizes[k] = from.sizes[i];
    permuted.strides[k] = from.strides[i];
  }
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, permuted.sizes, "out"));
  CopyList list;
  list.add(to, permuted);
  return list.finish(describe_later({&self, &out}), plan);
}

Status channel_shuffle(const aclTensor& self, int64_t groups, const aclTensor& out, Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(open(self, out, &from, &to));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, self.dims, "out"));
  if (from.rank() < 3 || groups <= 0 || from.sizes[1] % groups != 0) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("the channels of ", describe(self), " do not make ", groups,
                 " groups; it needs 3 dimensions or more, and a divisor of the second's size")};
  }
  const int64_t each = from.sizes[1] / groups;
  // [groups, each] of the source is [each, groups] of the result.
  from.sizes[1] = groups;
  from = from.insert(1, each, from.strides[1]);
  from.strides[2] *= each;
  to.sizes[1] = groups;
  to = to.insert(1, each, to.strides[1] * groups);
  CopyList list;
  list.add(to, from);
  return list.finish(describe_later({&self, &out}), plan);
}

}  // namespace softnpu
