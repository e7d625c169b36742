// sort, argsort, topk, kthvalue, median: a line's elements in the order of their values, or some of them.

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/text.h"
#include "ops/core/convert/rows.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/iterate/view.h"
#include "ops/core/iterate/walk.h"
#include "ops/tensor/sort/least.h"
#include "ops/tensor/sort/operators.h"
#include "ops/tensor/sort/packed.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// The elements of a line that are needed.
enum class Selection : uint8_t {
  kSorted,      // all
  kFirst,       // the first k in order
  kFirstOfAny,  // the first k in any order
  kNth,         // the k-th
  kMedian,
  kNanMedian,
};

struct Slices {
  View self;
  View values;   // null data: not needed
  View indices;  // null data: not needed
  Selection want = Selection::kSorted;
  bool descending = false;
  int64_t k = 0;
  Walk<3> walk;          // self, values, indices: the lines
  int64_t length = 0;    // of a line
  ptrdiff_t stride = 0;  // of self along a line
  int64_t results = 0;   // per line
  ptrdiff_t value_stride = 0;
  ptrdiff_t index_stride = 0;

  // Per thread.
  Checked scratch_bytes() const { return checked(length) * 2 * packed_size(self.dtype, length); }

  // Whether the first k are selected from values as they are computed with.
  bool selects_values() const {
    const ComputeType type = compute_type_of(self.dtype);
    return (want == Selection::kFirst || want == Selection::kFirstOfAny) && length <= int64_t{UINT32_MAX} &&
           (type == ComputeType::kF32 || type == ComputeType::kI32);
  }

  // The packed first k of a line, by its values: those in memory, or converted in `scratch`.
  template <typename T>
  const ShortPacked* choose_values(const char* from, ShortPacked* line, ShortPacked* scratch) const {
    const auto* values = reinterpret_cast<const T*>(from);
    const bool is_in_place = (self.dtype == ACL_FLOAT || self.dtype == ACL_INT32) && stride == sizeof(T);
    if (!is_in_place) {
      auto* converted = reinterpret_cast<T*>(scratch);
      load_row(self.dtype)(from, stride, static_cast<size_t>(length), converted);
      values = converted;
    }
    select_least(values, k, length, descending, line);
    if (want == Selection::kFirst) std::sort(line, line + k);
    return line;
  }

  // Moves the needed elements to the front.
  template <typename Packed>
  Packed* choose(Packed* line, Packed* scratch) const {
    const auto nth = [&](int64_t at) {
      std::nth_element(line, line + at, line + length);
      return line + at;
    };
    switch (want) {
      case Selection::kSorted: return sort_packed(line, scratch, length);
      case Selection::kFirst:
      case Selection::kFirstOfAny:
        select_least(line, k, length);
        if (want == Selection::kFirst) std::sort(line, line + k);
        return line;
      case Selection::kNth: return nth(k);
      case Selection::kMedian:
      case Selection::kNanMedian: break;
    }
    const uint64_t nan = nan_key(self.dtype);
    const auto is_nan = [nan](const Packed& packed) { return nan != 0 && packed.key() == nan; };
    if (want == Selection::kMedian) {
      Packed* found = std::find_if(line, line + length, is_nan);
      return found != line + length ? found : nth((length - 1) / 2);
    }
    const int64_t numbers = length - std::count_if(line, line + length, is_nan);
    return nth(numbers > 0 ? (numbers - 1) / 2 : 0);
  }

  void put_index(int64_t location, char* to) const {
    if (indices.dtype == ACL_INT64) {
      std::memcpy(to, &location, sizeof location);
    } else {
      const auto narrow = static_cast<int32_t>(location);
      std::memcpy(to, &narrow, sizeof narrow);
    }
  }

  template <typename Packed>
  void run_line(const Walk<3>::Offsets& at, Packed* line) const {
    const char* from = self.data + at[0];
    pack(self.dtype, from, stride, length, 0, descending, line);
    put(at, choose(line, line + length));
  }

  void run_values(const Walk<3>::Offsets& at, ShortPacked* line) const {
    const char* from = self.data + at[0];
    const bool is_float = compute_type_of(self.dtype) == ComputeType::kF32;
    put(at,
        is_float ? choose_values<float>(from, line, line + length) : choose_values<int32_t>(from, line, line + length));
  }

  // Stores the results of the line at `at`.
  template <typename Packed>
  void put(const Walk<3>::Offsets& at, const Packed* chosen) const {
    const char* from = self.data + at[0];
    const auto element = static_cast<size_t>(self.element());
    for (int64_t i = 0; i < results; ++i) {
      const int64_t location = chosen[i].location();
      if (indices.data != nullptr) put_index(location, indices.data + at[2] + i * index_stride);
      if (values.data != nullptr) {
        std::memcpy(values.data + at[1] + i * value_stride, from + location * stride, element);
      }
    }
  }

  void run(char* workspace, int threads) const {
    const int64_t grain = std::max<int64_t>(1, kGrainElements / 8 / std::max<int64_t>(length, 1));
    parallel_for_slots(walk.count(), grain, threads, [&](int64_t first, int64_t last, int slot) {
      char* scratch = workspace + static_cast<uint64_t>(slot) * scratch_bytes().bytes();
      if (selects_values()) {
        walk.for_each(first, last - first,
                      [&](const Walk<3>::Offsets& at) { run_values(at, reinterpret_cast<ShortPacked*>(scratch)); });
        return;
      }
      with_packed(self.dtype, length, [&]<typename Packed>() {
        walk.for_each(first, last - first,
                      [&](const Walk<3>::Offsets& at) { run_line(at, reinterpret_cast<Packed*>(scratch)); });
      });
    });
  }
};

Status open_self(const aclTensor& self, View* view) {
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", view));
  if (!is_complex(self.dtype)) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("self is ", describe(self), "; complex numbers have no order")};
}

Status open_result(const aclTensor& tensor, aclDataType dtype, const Dims& sizes, const char* role, View* view) {
  SOFTNPU_RETURN_IF_ERROR(view_of(tensor, role, view));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(tensor, sizes, role));
  if (tensor.dtype == dtype) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text(role, " is ", describe(tensor), "; it is of ", name_of(dtype))};
}

// Positions in lines of `length`.
Status open_indices(const aclTensor& tensor, const Dims& sizes, int64_t length, View* view) {
  const bool is_narrow = tensor.dtype == ACL_INT32 && length <= INT32_MAX;
  return open_result(tensor, is_narrow ? ACL_INT32 : ACL_INT64, sizes, "indices", view);
}

// Plans one view of each line per result; sizes have been checked.
Status plan_lines(Slices lines, size_t dim, std::string message, Plan* plan) {
  const Dims sizes = lines.self.sizes;
  lines.length = sizes.empty() ? 1 : sizes[dim];
  lines.stride = sizes.empty() ? 0 : lines.self.strides[dim];
  const auto stride_of = [](const View& view, size_t i) { return view.data == nullptr ? 0 : view.strides[i]; };
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i == dim) continue;
    lines.walk.add(sizes[i], {lines.self.strides[i], stride_of(lines.values, i), stride_of(lines.indices, i)});
  }
  lines.walk.join();
  if (!sizes.empty()) {
    lines.value_stride = stride_of(lines.values, dim);
    lines.index_stride = stride_of(lines.indices, dim);
  }
  constexpr int64_t kShortLine = 256;  // of which a result takes longer than its elements
  const double of_values = lines.length < kShortLine ? 3 : 1;
  const double rounds = lines.want == Selection::kSorted ? 8 : lines.selects_values() ? of_values : 4;
  const Effort effort = effort_of(rounds * static_cast<double>(lines.self.count()));
  plan->describe = [message = std::move(message)] { return message; };
  if (lines.walk.count() == 0 || lines.results == 0 || lines.length == 0) return plan_nothing(plan);
  plan->work = effort.work;
  plan->workspace_bytes = lines.scratch_bytes() * std::max(effort.threads, 1);
  plan->run = [lines = std::move(lines), effort](void* workspace) {
    lines.run(static_cast<char*>(workspace), effort.threads);
    return Status::ok();
  };
  return Status::ok();
}

std::string describe(const aclTensor& self, const aclTensor& values, const aclTensor& indices) {
  const aclTensor* all[] = {&self, &values, &indices};
  return softnpu::describe(all);
}

// One result per line.
Status plan_one(Slices lines, const aclTensor& self, size_t dim, bool keepdim, const aclTensor& values,
                const aclTensor& indices, Plan* plan) {
  Dims sizes = self.dims;
  if (!sizes.empty()) sizes[dim] = 1;
  View shape = lines.self;
  if (!keepdim && !sizes.empty()) sizes = shape.erase(dim).sizes;
  SOFTNPU_RETURN_IF_ERROR(open_result(values, self.dtype, sizes, "values", &lines.values));
  SOFTNPU_RETURN_IF_ERROR(open_result(indices, ACL_INT64, sizes, "indices", &lines.indices));
  if (!keepdim && !self.dims.empty()) {
    lines.values = lines.values.insert(dim, 1, 0);
    lines.indices = lines.indices.insert(dim, 1, 0);
  }
  lines.results = 1;
  return plan_lines(std::move(lines), dim, describe(self, values, indices), plan);
}

int64_t length_of(const aclTensor& self, size_t dim) { return self.dims.empty() ? 1 : self.dims[dim]; }

}  // namespace

Status sort(const aclTensor& self, int64_t dim, bool descending, const aclTensor& values, const aclTensor& indices,
            Plan* plan) {
  Slices lines;
  size_t along = 0;
  SOFTNPU_RETURN_IF_ERROR(open_self(self, &lines.self));
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, self.dims.size(), &along));
  SOFTNPU_RETURN_IF_ERROR(open_result(values, self.dtype, self.dims, "values", &lines.values));
  SOFTNPU_RETURN_IF_ERROR(open_indices(indices, self.dims, length_of(self, along), &lines.indices));
  lines.descending = descending;
  lines.results = length_of(self, along);
  return plan_lines(std::move(lines), along, describe(self, values, indices), plan);
}

Status argsort(const aclTensor& self, int64_t dim, bool descending, const aclTensor& indices, Plan* plan) {
  Slices lines;
  size_t along = 0;
  SOFTNPU_RETURN_IF_ERROR(open_self(self, &lines.self));
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, self.dims.size(), &along));
  SOFTNPU_RETURN_IF_ERROR(open_result(indices, ACL_INT64, self.dims, "out", &lines.indices));
  lines.descending = descending;
  lines.results = length_of(self, along);
  const aclTensor* both[] = {&self, &indices};
  return plan_lines(std::move(lines), along, softnpu::describe(both), plan);
}

Status topk(const aclTensor& self, int64_t k, int64_t dim, bool largest, bool sorted, const aclTensor& values,
            const aclTensor& indices, Plan* plan) {
  Slices lines;
  size_t along = 0;
  SOFTNPU_RETURN_IF_ERROR(open_self(self, &lines.self));
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, self.dims.size(), &along));
  const int64_t length = length_of(self, along);
  if (k < 0 || k > length) {
    return {ACLNN_ERR_PARAM_INVALID, text("k is ", k, "; it is from 0 to ", length, ", the size of dimension ", along)};
  }
  Dims sizes = self.dims;
  if (!sizes.empty()) sizes[along] = k;
  SOFTNPU_RETURN_IF_ERROR(open_result(values, self.dtype, sizes, "values", &lines.values));
  SOFTNPU_RETURN_IF_ERROR(open_indices(indices, sizes, length, &lines.indices));
  lines.want = sorted ? Selection::kFirst : Selection::kFirstOfAny;
  lines.descending = largest;
  lines.results = self.dims.empty() ? 1 : k;  // a number has one result also for k = 0
  lines.k = lines.results;
  return plan_lines(std::move(lines), along, describe(self, values, indices), plan);
}

Status kthvalue(const aclTensor& self, int64_t k, int64_t dim, bool keepdim, const aclTensor& values,
                const aclTensor& indices, Plan* plan) {
  Slices lines;
  size_t along = 0;
  SOFTNPU_RETURN_IF_ERROR(open_self(self, &lines.self));
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, self.dims.size(), &along));
  if (k < 1 || k > length_of(self, along)) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("k is ", k, "; it is from 1 to ", length_of(self, along), ", the size of dimension ", along)};
  }
  lines.want = Selection::kNth;
  lines.k = k - 1;
  return plan_one(std::move(lines), self, along, keepdim, values, indices, plan);
}

Status median(bool skip_nan, const aclTensor& self, int64_t dim, bool keepdim, const aclTensor& values,
              const aclTensor& indices, Plan* plan) {
  Slices lines;
  size_t along = 0;
  SOFTNPU_RETURN_IF_ERROR(open_self(self, &lines.self));
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, self.dims.size(), &along));
  if (length_of(self, along) == 0) {
    return {ACLNN_ERR_PARAM_INVALID, text("dimension ", along, " of ", softnpu::describe(self), " has no median")};
  }
  lines.want = skip_nan ? Selection::kNanMedian : Selection::kMedian;
  return plan_one(std::move(lines), self, along, keepdim, values, indices, plan);
}

Status median(bool skip_nan, const aclTensor& self, const aclTensor& out, Plan* plan) {
  Slices lines;
  SOFTNPU_RETURN_IF_ERROR(open_self(self, &lines.self));
  SOFTNPU_RETURN_IF_ERROR(open_result(out, self.dtype, {}, "out", &lines.values));
  lines.want = skip_nan ? Selection::kNanMedian : Selection::kMedian;
  const aclTensor* both[] = {&self, &out};
  const int64_t count = lines.self.count();
  const Effort effort = effort_of(4 * static_cast<double>(count));
  lines.length = count;
  plan->work = effort.work;
  plan->workspace_bytes = checked(count) * packed_size(self.dtype, count);
  plan->describe = describe_later(both);
  // Without elements: NaN, or its conversion to an integer as in PyTorch.
  plan->run = [lines, count](void* workspace) {
    if (count == 0) {
      with_real(lines.self.dtype, [&]<typename Element>() {
        using T = typename Element::Computed;
        T nothing = std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN()
                                                          : std::numeric_limits<T>::lowest();
        Element::store(lines.values.data, nothing);
      });
      return Status::ok();
    }
    Walk<1> walk;
    for (size_t i = 0; i < lines.self.rank(); ++i) walk.add(lines.self.sizes[i], {lines.self.strides[i]});
    walk.join();
    with_packed(lines.self.dtype, count, [&]<typename Packed>() {
      auto* packed = static_cast<Packed*>(workspace);
      int64_t location = 0;
      walk.for_runs(0, count, [&](const Walk<1>::Offsets& at, int64_t run) {
        pack(lines.self.dtype, lines.self.data + at[0], walk.inner().strides[0], run, location, false,
             packed + location);
        location += run;
      });
      const int64_t chosen = lines.choose(packed, packed)->location();
      walk.for_runs(chosen, 1, [&](const Walk<1>::Offsets& at, int64_t) {
        std::memcpy(lines.values.data, lines.self.data + at[0], static_cast<size_t>(lines.self.element()));
      });
    });
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
