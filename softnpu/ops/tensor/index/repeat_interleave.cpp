// repeat_interleave: repeats each row.

#include <cstring>
#include <memory>
#include <vector>

#include "base/text.h"
#include "ops/core/convert/typed.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/tensor/index/operators.h"
#include "ops/tensor/index/rows.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// How often each of `count` rows is repeated: one number for all, or a vector.
struct Repeats {
  View numbers;  // without data: `number` for all rows
  int64_t number = 0;
  int64_t count = 0;

  Status open(const aclTensor& repeats, int64_t rows) {
    SOFTNPU_RETURN_IF_ERROR(view_of(repeats, "repeats", &numbers));
    SOFTNPU_RETURN_IF_ERROR(require_index(repeats, "repeats"));
    count = rows;
    if (numbers.rank() > 1 || (numbers.count() != 1 && numbers.count() != rows)) {
      return {ACLNN_ERR_PARAM_INVALID, text("repeats are ", describe(repeats), " for ", rows, " rows")};
    }
    if (numbers.rank() == 0) numbers = numbers.insert(0, 1, 0);
    if (numbers.count() == 1) numbers = numbers.repeat(0, rows);
    return Status::ok();
  }

  int64_t at(int64_t i) const {
    if (numbers.data == nullptr) return number;
    return load_index(numbers.data + i * numbers.strides[0], numbers.dtype == ACL_INT64);
  }
};

// Takes the repeats one by one. Each is read once, since another process may write them meanwhile: what is checked is
// what is used. Their sum has to be `size`.
class Expansion {
 public:
  Expansion(const Repeats& repeats, int64_t size) : repeats_(repeats), size_(size) {}

  // The repeats of row `i`, the next one; 0 after an error.
  int64_t take(int64_t i) {
    const int64_t times = repeats_.at(i);
    if (times < 0 && status_.is_ok()) {
      status_ = {ACLNN_ERR_PARAM_INVALID, text("repeats hold the negative number ", times, " at ", i)};
    }
    if (!status_.is_ok()) return 0;
    is_more_ = is_more_ || times > size_ - total_;
    if (is_more_) return 0;
    total_ += times;
    return times;
  }

  Status finish() const {
    if (!status_.is_ok() || (total_ == size_ && !is_more_)) return status_;
    return {ACLNN_ERR_PARAM_INVALID,
            text("the repeats of ", repeats_.count, " rows do not sum up to ", size_, ", the result's size")};
  }

 private:
  const Repeats& repeats_;
  const int64_t size_;
  int64_t total_ = 0;
  bool is_more_ = false;
  Status status_;
};

// Without a dimension: elements in their logical order.
Status plan_flat(const aclTensor& self, const Repeats& repeats, int64_t size, const aclTensor& out, Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", &from));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, out));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, {size}, "out"));
  const RowLayout rows(from.data, to.data, to.sizes, to.strides, Walk<2>());
  const auto fill = [from, repeats, size](ptrdiff_t* table) {
    Expansion expansion(repeats, size);
    Walk<1> walk;
    for (size_t i = 0; i < from.rank(); ++i) walk.add(from.sizes[i], {from.strides[i]});
    walk.join();
    int64_t row = 0;
    walk.for_each(0, from.count(), [&](const Walk<1>::Offsets& at) {
      for (int64_t k = expansion.take(row++); k > 0; --k) *table++ = at[0];
    });
    return expansion.finish();
  };
  return plan_reads(fill, rows, self.dtype, describe_later({&self, &out}), plan);
}

Status plan_along(const aclTensor& self, const Repeats& repeats, size_t dim, int64_t size, const aclTensor& out,
                  Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", &from));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, out));
  Dims sizes = self.dims;
  sizes[dim] = size;
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, sizes, "out"));
  Walk<2> rest;
  for (size_t i = 0; i < from.rank(); ++i) {
    if (i != dim) rest.add(from.sizes[i], {from.strides[i], to.strides[i]});
  }
  const RowLayout rows(from.data, to.data, {size}, {to.strides[dim]}, rest);
  const auto fill = [repeats, size, stride = from.strides[dim]](ptrdiff_t* table) {
    Expansion expansion(repeats, size);
    for (int64_t i = 0; i < repeats.count; ++i) {
      for (int64_t k = expansion.take(i); k > 0; --k) *table++ = i * stride;
    }
    return expansion.finish();
  };
  return plan_reads(fill, rows, self.dtype, describe_later({&self, &out}), plan);
}

Status check_number(int64_t repeats) {
  if (repeats >= 0) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("repeats is the negative number ", repeats)};
}

}  // namespace

Status repeat_interleave(const aclTensor& self, const aclTensor& repeats, int64_t size, const aclTensor& out,
                         Plan* plan) {
  Repeats numbers;
  SOFTNPU_RETURN_IF_ERROR(numbers.open(repeats, element_count(self)));
  return plan_flat(self, numbers, size, out, plan);
}

Status repeat_interleave(const aclTensor& self, int64_t repeats, int64_t size, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_number(repeats));
  return plan_flat(self, {{}, repeats, element_count(self)}, size, out, plan);
}

Status repeat_interleave(const aclTensor& self, const aclTensor& repeats, int64_t dim, int64_t size,
                         const aclTensor& out, Plan* plan) {
  size_t along = 0;
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, self.dims.size(), &along));
  if (self.dims.empty()) return repeat_interleave(self, repeats, size, out, plan);
  Repeats numbers;
  SOFTNPU_RETURN_IF_ERROR(numbers.open(repeats, self.dims[along]));
  return plan_along(self, numbers, along, size, out, plan);
}

Status repeat_interleave(const aclTensor& self, int64_t repeats, int64_t dim, int64_t size, const aclTensor& out,
                         Plan* plan) {
  size_t along = 0;
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, self.dims.size(), &along));
  if (self.dims.empty()) return repeat_interleave(self, repeats, size, out, plan);
  SOFTNPU_RETURN_IF_ERROR(check_number(repeats));
  return plan_along(self, {{}, repeats, self.dims[along]}, along, size, out, plan);
}

Status repeat_interleave_indices(const aclTensor& repeats, int64_t size, const aclTensor& out, Plan* plan) {
  Repeats numbers;
  View to;
  SOFTNPU_RETURN_IF_ERROR(numbers.open(repeats, element_count(repeats)));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  SOFTNPU_RETURN_IF_ERROR(require_index(out, "out"));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, {size}, "out"));
  plan->work = effort_of(static_cast<double>(size)).work;
  const aclTensor* both[] = {&repeats, &out};
  plan->describe = describe_later(both);
  plan->run = [numbers, to, size](void*) {
    Expansion expansion(numbers, size);
    with_real(to.dtype, [&]<typename Element>() {
      char* at = to.data;
      for (int64_t i = 0; i < numbers.count; ++i) {
        for (int64_t k = expansion.take(i); k > 0; --k, at += to.strides[0]) {
          Element::store(at, static_cast<typename Element::Computed>(i));
        }
      }
    });
    return expansion.finish();
  };
  return Status::ok();
}

Status repeat_interleave_grad(const aclTensor& grad, const aclTensor& repeats, int64_t dim, const aclTensor& out,
                              Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(grad, "grad", &from));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(grad, out));
  if (from.rank() == 0 || from.rank() != to.rank()) {
    const aclTensor* both[] = {&grad, &out};
    return {ACLNN_ERR_PARAM_INVALID, text("grad and out are ", describe(both), "; both have the same dimensions")};
  }
  size_t along = 0;
  SOFTNPU_RETURN_IF_ERROR(wrap_dim(dim, from.rank(), &along));
  Dims sizes = grad.dims;
  sizes[along] = to.sizes[along];
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, sizes, "out"));
  Repeats numbers;
  SOFTNPU_RETURN_IF_ERROR(numbers.open(repeats, to.sizes[along]));
  Walk<2> rest;
  for (size_t i = 0; i < from.rank(); ++i) {
    if (i != along) rest.add(from.sizes[i], {from.strides[i], to.strides[i]});
  }
  rest.order();
  rest.join();
  const Effort effort = effort_of(2 * static_cast<double>(from.count() + to.count()));
  plan->work = effort.work;
  const aclTensor* all[] = {&grad, &repeats, &out};
  plan->describe = describe_later(all);
  plan->workspace_bytes = checked(numbers.count) * sizeof(int64_t);
  plan->run = [=](void* workspace) {
    auto* times = static_cast<int64_t*>(workspace);
    Expansion expansion(numbers, from.sizes[along]);
    for (int64_t i = 0; i < numbers.count; ++i) times[i] = expansion.take(i);
    SOFTNPU_RETURN_IF_ERROR(expansion.finish());
    const ptrdiff_t read = from.strides[along];
    const ptrdiff_t write = to.strides[along];
    const int64_t grain = std::max<int64_t>(1, kGrainElements / std::max<int64_t>(from.sizes[along], 1));
    with_any(to.dtype, [&]<typename Element>() {
      parallel_for(rest.count(), grain, effort.threads, [&](int64_t first, int64_t last) {
        rest.for_each(first, last - first, [&](const Walk<2>::Offsets& at) {
          const char* source = from.data + at[0];
          char* result = to.data + at[1];
          for (int64_t i = 0; i < numbers.count; ++i, result += write) {
            typename Element::Computed sum{};
            for (int64_t k = times[i]; k > 0; --k, source += read) sum += Element::load(source);
            Element::store(result, sum);
          }
        });
      });
    });
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
