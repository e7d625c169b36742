// unique: sorts rows, or takes them in their order, and merges equal neighbours.

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "ops/core/contiguous.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/iterate/view.h"
#include "ops/core/iterate/walk.h"
#include "ops/tensor/sort/operators.h"
#include "ops/tensor/sort/packed.h"

namespace softnpu {
namespace {

// The `dim` that means none.
constexpr int64_t kFlat = 1000;

// `rows` rows of `width` keys: elements of `self` if flat, else slices along a dimension.
struct Unique {
  View self;
  View out;
  View inverse;
  View counts;
  bool has_inverse = false;
  bool has_counts = false;
  bool sorts = true;
  bool is_flat = true;
  bool is_packed = true;  // strides are those of a contiguous tensor of the final size
  size_t dim = 0;
  int64_t rows = 0;
  int64_t width = 1;

  // Keys, then the rows' order. Flat keys are packed with their positions; sorting needs as much scratch memory.
  Checked workspace_bytes() const {
    if (is_flat) return checked(rows) * 2 * packed_size(self.dtype, rows);
    return checked(rows) * (checked(width) + 1) * sizeof(uint64_t);
  }

  // Calls body(row) in order for each row, with whether it equals the preceding one. Returns the number of groups.
  template <typename Equal, typename Row>
  int64_t write_groups(const Equal& is_equal, const Row& row_at) const;
  int64_t run_flat(char* workspace) const;
  int64_t run_slices(char* workspace) const;
};

// `is_equal(i)`: whether rows i - 1 and i in sorted order are equal. `row_at(i)`: the row at i.
template <typename Equal, typename Row>
int64_t Unique::write_groups(const Equal& is_equal, const Row& row_at) const {
  int64_t groups = 0;
  int64_t first = 0;  // of the group
  const Walk<1> inverse_walk = walk_of(inverse);
  const bool linear = inverse_walk.dims() == 1;
  for (int64_t i = 0; i < rows; ++i) {
    if (i == 0 || !is_equal(i)) {
      if (has_counts && i > 0) {
        const int64_t size = i - first;
        std::memcpy(counts.data + (groups - 1) * counts.strides[0], &size, sizeof size);
      }
      first = i;
      ++groups;
    }
    if (!has_inverse) continue;
    const int64_t group = groups - 1;
    const int64_t row = row_at(i);
    if (linear) {
      std::memcpy(inverse.data + row * inverse_walk.inner().strides[0], &group, sizeof group);
    } else {
      inverse_walk.for_runs(row, 1, [&](const Walk<1>::Offsets& at, int64_t) {
        std::memcpy(inverse.data + at[0], &group, sizeof group);
      });
    }
  }
  if (has_counts && groups > 0) {
    const int64_t size = rows - first;
    std::memcpy(counts.data + (groups - 1) * counts.strides[0], &size, sizeof size);
  }
  return groups;
}

int64_t Unique::run_flat(char* workspace) const {
  return with_packed(self.dtype, rows, [&]<typename Packed>() {
    auto* packed = reinterpret_cast<Packed*>(workspace);
    const Walk<1> walk = walk_of(self);
    int64_t location = 0;
    walk.for_runs(0, rows, [&](const Walk<1>::Offsets& at, int64_t run) {
      pack(self.dtype, self.data + at[0], walk.inner().strides[0], run, location, false, packed + location);
      location += run;
    });
    const Packed* order = sorts ? sort_packed(packed, packed + rows, rows) : packed;
    const uint64_t nan = nan_key(self.dtype);
    const auto is_equal = [&](int64_t i) {
      return order[i].key() == order[i - 1].key() && (nan == 0 || order[i].key() != nan);
    };
    char* to = out.data;
    for (int64_t i = 0; i < rows; ++i) {
      if (i > 0 && is_equal(i)) continue;
      walk.for_runs(order[i].location(), 1, [&](const Walk<1>::Offsets& at, int64_t) {
        std::memcpy(to, self.data + at[0], static_cast<size_t>(self.element()));
      });
      to += out.strides[0];
    }
    return write_groups(is_equal, [&](int64_t i) { return order[i].location(); });
  });
}

int64_t Unique::run_slices(char* workspace) const {
  auto* keys = reinterpret_cast<uint64_t*>(workspace);
  auto* order = reinterpret_cast<int64_t*>(keys + rows * width);
  const Walk<1> slice = walk_of(self.erase(dim));
  std::iota(order, order + rows, int64_t{0});
  with_real(self.dtype, [&]<typename Element>() {
    for (int64_t row = 0; row < rows && width > 0; ++row) {  // without elements there may be no memory
      const char* from = self.data + row * self.strides[dim];
      uint64_t* key = keys + row * width;
      slice.for_each(0, width, [&](const Walk<1>::Offsets& at) { *key++ = key_of(Element::load(from + at[0])); });
    }
  });
  if (sorts) {
    std::sort(order, order + rows, [&](int64_t a, int64_t b) {
      const uint64_t* x = keys + a * width;
      const uint64_t* y = keys + b * width;
      const auto [at, other] = std::mismatch(x, x + width, y);
      return at == x + width ? a < b : *at < *other;
    });
  }
  const uint64_t nan = nan_key(self.dtype);
  const auto is_equal = [&](int64_t i) {
    const uint64_t* x = keys + order[i] * width;
    const uint64_t* y = keys + order[i - 1] * width;
    return std::equal(x, x + width, y) && (nan == 0 || std::find(x, x + width, nan) == x + width);
  };
  int64_t groups = 0;
  for (int64_t i = 0; i < rows; ++i) groups += i == 0 || !is_equal(i);
  View to = out;
  if (is_packed) {
    int64_t next = out.element();
    for (size_t d = out.rank(); d-- > 0; next *= d == dim ? groups : out.sizes[d]) to.strides[d] = next;
  }
  Walk<2> copy;
  for (size_t d = 0; d < self.rank(); ++d) {
    if (d != dim) copy.add(self.sizes[d], {self.strides[d], to.strides[d]});
  }
  copy.join();
  int64_t group = 0;
  for (int64_t i = 0; i < rows && width > 0; ++i) {
    if (i > 0 && is_equal(i)) continue;
    const char* from = self.data + order[i] * self.strides[dim];
    char* target = to.data + group++ * to.strides[dim];
    copy.for_each(0, width, [&](const Walk<2>::Offsets& at) {
      std::memcpy(target + at[1], from + at[0], static_cast<size_t>(self.element()));
    });
  }
  return write_groups(is_equal, [&](int64_t i) { return order[i]; });
}

// `counts` may be null. `task` has its flags set, and its dim if it is not flat.
Status plan_unique(Unique task, const aclTensor& self, aclTensor& out, aclTensor& inverse, aclTensor* counts,
                   Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", &task.self));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "valueOut", &task.out));
  SOFTNPU_RETURN_IF_ERROR(view_of(inverse, "inverseOut", &task.inverse));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, out));
  if (is_complex(self.dtype)) {
    return {ACLNN_ERR_PARAM_INVALID, text("self is ", describe(self), "; complex numbers have no order")};
  }
  task.rows = task.is_flat ? task.self.count() : self.dims[task.dim];
  if (!task.is_flat) task.width = task.self.erase(task.dim).count();
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, task.is_flat ? Dims{task.rows} : self.dims, "valueOut"));
  task.is_packed = is_contiguous(out);
  task.has_inverse = task.inverse.count() > 0;
  if (task.has_inverse) {
    SOFTNPU_RETURN_IF_ERROR(require_sizes(inverse, task.is_flat ? self.dims : Dims{task.rows}, "inverseOut"));
  }
  if (counts != nullptr) {
    SOFTNPU_RETURN_IF_ERROR(view_of(*counts, "countsOut", &task.counts));
    task.has_counts = task.counts.count() > 0;
    if (task.has_counts) SOFTNPU_RETURN_IF_ERROR(require_sizes(*counts, {task.rows}, "countsOut"));
  }
  for (const aclTensor* tensor : {static_cast<const aclTensor*>(&inverse), static_cast<const aclTensor*>(counts)}) {
    if (tensor != nullptr && element_count(*tensor) > 0 && tensor->dtype != ACL_INT64) {
      return {ACLNN_ERR_PARAM_INVALID, text(describe(*tensor), " is to hold numbers of rows; it is of int64")};
    }
  }
  plan->work = effort_of(8 * static_cast<double>(task.self.count())).work;
  plan->workspace_bytes = task.workspace_bytes();
  const aclTensor* both[] = {&self, &out};
  plan->describe = describe_later(both);
  const DynamicShape counts_shape(task.has_counts ? shape_of(*counts) : DynamicShape(nullptr));
  plan->run = [task, shape = shape_of(out), counts_shape](void* workspace) {
    auto* scratch = static_cast<char*>(workspace);
    int64_t groups = 0;
    if (task.rows > 0) groups = task.is_flat ? task.run_flat(scratch) : task.run_slices(scratch);
    Dims sizes = task.out.sizes;
    sizes[task.is_flat ? 0 : task.dim] = groups;
    shape.set(sizes);
    if (task.has_counts) counts_shape.set({groups});
    return Status::ok();
  };
  return Status::ok();
}

Status with_dim(const aclTensor& self, int64_t dim, Unique* task) {
  task->is_flat = false;
  if (self.dims.empty()) return {ACLNN_ERR_PARAM_INVALID, "self has no dimensions, and no slices"};
  return wrap_dim(dim, self.dims.size(), &task->dim);
}

}  // namespace

Status unique(const aclTensor& self, aclTensor& out, aclTensor& inverse, aclTensor* counts, Plan* plan) {
  return plan_unique({}, self, out, inverse, counts, plan);
}

Status unique_consecutive(const aclTensor& self, int64_t dim, aclTensor& out, aclTensor& inverse, aclTensor& counts,
                          Plan* plan) {
  Unique task;
  task.sorts = false;
  if (dim != kFlat) SOFTNPU_RETURN_IF_ERROR(with_dim(self, dim, &task));
  return plan_unique(task, self, out, inverse, &counts, plan);
}

Status unique_dim(const aclTensor& self, int64_t dim, aclTensor& out, aclTensor& inverse, aclTensor& counts,
                  Plan* plan) {
  Unique task;
  SOFTNPU_RETURN_IF_ERROR(with_dim(self, dim, &task));
  return plan_unique(task, self, out, inverse, &counts, plan);
}

}  // namespace softnpu
