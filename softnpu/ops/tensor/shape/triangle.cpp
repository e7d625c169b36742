// tril, triu, eye, trace, fill_diagonal.

#include <algorithm>
#include <complex>
#include <cstring>

#include "base/copy_bytes.h"
#include "base/text.h"
#include "ops/core/convert/element_rows.h"
#include "ops/core/copy/strided_copy.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/element.h"
#include "ops/tensor/shape/operators.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

struct Triangle {
  bool upper;
  int64_t diagonal;
  char* to;
  const char* from;
  int64_t columns;
  ptrdiff_t to_stride;  // between columns, in bytes
  ptrdiff_t from_stride;
  Walk<2> lines;  // strides of batches and rows: to, from
  int64_t rows;

  template <typename T>
  void move(char* out, const char* in, int64_t first, int64_t last) const {
    if (out == in && to_stride == from_stride) return;
    if (to_stride == sizeof(T) && from_stride == sizeof(T)) {
      copy_bytes(out + first * to_stride, in + first * from_stride, static_cast<size_t>(last - first) * sizeof(T));
      return;
    }
    for (int64_t c = first; c < last; ++c) std::memcpy(out + c * to_stride, in + c * from_stride, sizeof(T));
  }

  template <typename T>
  void clear(char* out, int64_t first, int64_t last) const {
    if (to_stride == sizeof(T)) {
      std::memset(out + first * to_stride, 0, static_cast<size_t>(last - first) * sizeof(T));
      return;
    }
    for (int64_t c = first; c < last; ++c) std::memset(out + c * to_stride, 0, sizeof(T));
  }

  template <typename T>
  void run(int threads) const {
    const int64_t grain = std::max<int64_t>(1, kGrainElements / std::max<int64_t>(columns, 1));
    parallel_for(lines.count(), grain, threads, [&](int64_t first, int64_t last) {
      int64_t row = first % rows;
      lines.for_each(first, last - first, [&](const Walk<2>::Offsets& at) {
        char* out = to + at[0];
        const char* in = from + at[1];
        // The first column right of the lower triangle, or the first column of the upper one.
        const int64_t edge = std::clamp<int64_t>(upper ? row + diagonal : row + diagonal + 1, 0, columns);
        if (upper) {
          clear<T>(out, 0, edge);
          move<T>(out, in, edge, columns);
        } else {
          move<T>(out, in, 0, edge);
          clear<T>(out, edge, columns);
        }
        row = row + 1 == rows ? 0 : row + 1;
      });
    });
  }
};

// The diagonal of `matrix`, of `size` elements.
View diagonal_of(const View& matrix, int64_t size) {
  View diagonal = matrix;
  int64_t step = 0;
  for (int64_t stride : matrix.strides) step += stride;
  diagonal.sizes = {size};
  diagonal.strides = {step};
  return diagonal;
}

aclScalar number(int64_t value) {
  aclScalar scalar;
  scalar.dtype = ACL_INT64;
  scalar.kind = aclScalar::Kind::kSigned;
  scalar.integer = static_cast<uint64_t>(value);
  return scalar;
}

}  // namespace

Status triangle(bool upper, const aclTensor& self, int64_t diagonal, const aclTensor& out, Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", &from));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, out));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, self.dims, "out"));
  if (from.rank() < 2) {
    return {ACLNN_ERR_PARAM_INVALID, text("self is ", describe(self), "; a triangle needs 2 dimensions or more")};
  }
  if (to.count() == 0) return plan_nothing(plan);
  const size_t last = to.rank() - 1;
  const int64_t rows = to.sizes[last - 1];
  // Clamped: beyond these the result does not change, and nothing overflows.
  const int64_t near = std::clamp(diagonal, -rows - 1, to.sizes[last] + 1);
  Triangle task{upper, near, to.data, from.data, to.sizes[last], to.strides[last], from.strides[last], {}, rows};
  for (size_t i = 0; i < last; ++i) task.lines.add(to.sizes[i], {to.strides[i], from.strides[i]});
  const Effort effort = effort_of(static_cast<double>(to.count()));
  plan->work = effort.work;
  const aclTensor* both[] = {&self, &out};
  plan->describe = describe_later(both);
  plan->run = [task, effort, size = static_cast<size_t>(to.element())](void*) {
    with_element(size, [&]<typename T>() { task.run<T>(effort.threads); });
    return Status::ok();
  };
  return Status::ok();
}

Status eye(int64_t n, int64_t m, const aclTensor& out, Plan* plan) {
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, {n, m}, "out"));
  CopyList list;
  list.zero(to);
  list.fill(diagonal_of(to, std::min(n, m)), number(1));
  return list.finish(describe_later({&out}), plan);
}

Status trace(const aclTensor& self, const aclTensor& out, Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", &from));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, {}, "out"));
  if (from.rank() != 2) return {ACLNN_ERR_PARAM_INVALID, text("self is ", describe(self), "; a trace is of a matrix")};
  const aclDataType as = is_integral(self.dtype) ? ACL_INT64 : is_complex(self.dtype) ? ACL_COMPLEX128 : ACL_DOUBLE;
  const View diagonal = diagonal_of(from, std::min(from.sizes[0], from.sizes[1]));
  plan->work = effort_of(static_cast<double>(diagonal.count())).work;
  const aclTensor* both[] = {&self, &out};
  plan->describe = describe_later(both);
  plan->run = [diagonal, to, as, read = ElementReader(self.dtype, as), write = ElementWriter(as, out.dtype)](void*) {
    with_compute_type(compute_type_of(as), [&]<typename T>() {
      constexpr int64_t kTile = 256;
      alignas(64) T tile[kTile];
      T sum{};
      for (int64_t i = 0; i < diagonal.sizes[0]; i += kTile) {
        const int64_t here = std::min(kTile, diagonal.sizes[0] - i);
        read.read(diagonal.data + i * diagonal.strides[0], diagonal.strides[0], static_cast<size_t>(here), tile);
        for (int64_t k = 0; k < here; ++k) sum += tile[k];
      }
      write.write(&sum, 1, to.data, to.element());
    });
    return Status::ok();
  };
  return Status::ok();
}

Status fill_diagonal(const aclTensor& self, const aclScalar& value, bool wrap, Plan* plan) {
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "selfRef", &to));
  if (to.rank() < 2) {
    return {ACLNN_ERR_PARAM_INVALID, text("selfRef is ", describe(self), "; a diagonal needs 2 dimensions or more")};
  }
  for (size_t i = 1; to.rank() > 2 && i < to.rank(); ++i) {
    if (to.sizes[i] != to.sizes[0]) {
      return {ACLNN_ERR_PARAM_INVALID,
              text("selfRef is ", describe(self), "; with more than 2 dimensions all of them have one size")};
    }
  }
  CopyList list;
  if (to.count() > 0) {
    const int64_t rows = to.sizes[0];
    const int64_t columns = to.sizes[1];
    list.fill(diagonal_of(to, std::min(rows, columns)), value);
    // In a tall matrix the diagonal starts again after each empty row below it.
    const int64_t period = columns + 1;
    if (wrap && to.rank() == 2 && rows > period) {
      const int64_t whole = (rows - period) / period;
      View more = to;
      more.data += period * to.strides[0];
      View diagonals = diagonal_of(more, columns).insert(0, whole, period * to.strides[0]);
      list.fill(diagonals, value);
      more.data += whole * period * to.strides[0];
      list.fill(diagonal_of(more, std::min(columns, rows - (whole + 1) * period)), value);
    }
  }
  return list.finish(describe_later({&self}), plan);
}

}  // namespace softnpu
