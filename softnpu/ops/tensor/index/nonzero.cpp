// nonzero: the indices of elements that are not zero.

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "ops/core/convert/typed.h"
#include "ops/core/describe.h"
#include "ops/tensor/index/chosen.h"
#include "ops/tensor/index/operators.h"

namespace softnpu {
namespace {

// The indices of nonzero elements.
struct Nonzero {
  View self;
  View out;
  bool transposed;
  bool packed;  // strides are those of a contiguous tensor of the final size
  Walk<1> walk;

  template <typename Element>
  static bool is_chosen(const char* at) {
    return Element::load(at) != typename Element::Computed(0);
  }

  // Calls body(i, whether element i is chosen) for `count` elements.
  template <typename Element, typename Body>
  static void for_elements(const char* from, ptrdiff_t stride, int64_t count, const Body& body) {
    constexpr auto kSize = static_cast<ptrdiff_t>(sizeof(typename Element::Stored));
    if (stride == kSize) {
      for (int64_t i = 0; i < count; ++i) body(i, is_chosen<Element>(from + i * kSize));
    } else {
      for (int64_t i = 0; i < count; ++i) body(i, is_chosen<Element>(from + i * stride));
    }
  }

  template <typename Element>
  int64_t chosen(int64_t first, int64_t last) const {
    int64_t count = 0;
    const ptrdiff_t stride = walk.inner().strides[0];
    walk.for_runs(first, last - first, [&](const Walk<1>::Offsets& at, int64_t run) {
      if constexpr (sizeof(typename Element::Stored) == 1) {
        count += count_nonzero(self.data + at[0], stride, run);
      } else {
        for_elements<Element>(self.data + at[0], stride, run, [&](int64_t, bool is) { count += is; });
      }
    });
    return count;
  }

  // Writes the indices of the nonzero elements from `start` on, `left` at most, to the result from `location` on.
  template <typename Element>
  void write(int64_t start, int64_t count, int64_t location, int64_t left, int64_t total) const {
    const size_t last = self.rank() - 1;
    Dims index(self.rank());
    for (size_t d = last + 1; d-- > 0; start /= self.sizes[d]) index[d] = start % self.sizes[d];
    ptrdiff_t offset = 0;
    for (size_t d = 0; d <= last; ++d) offset += index[d] * self.strides[d];
    const ptrdiff_t along = transposed ? out.strides[1] : out.strides[0];
    ptrdiff_t across = transposed ? out.strides[0] : out.strides[1];
    if (transposed && packed) across = total * out.element();
    char* to = out.data + location * along;
    const auto store = [&](int64_t row, size_t dim, int64_t value) {
      std::memcpy(to + row * along + static_cast<ptrdiff_t>(dim) * across, &value, sizeof value);
    };
    while (count > 0) {
      const int64_t here = std::min({kChosenTile, count, self.sizes[last] - index[last]});
      int64_t found[kChosenTile];
      int64_t rows = 0;
      for_elements<Element>(self.data + offset, self.strides[last], here, [&](int64_t i, bool is) {
        found[rows] = index[last] + i;
        rows += is;
      });
      rows = std::min(rows, left);
      for (size_t d = 0; d < last; ++d) {
        for (int64_t k = 0; k < rows; ++k) store(k, d, index[d]);
      }
      for (int64_t k = 0; k < rows; ++k) store(k, last, found[k]);
      to += rows * along;
      left -= rows;
      count -= here;
      offset += here * self.strides[last];
      index[last] += here;
      for (size_t d = last; d > 0 && index[d] == self.sizes[d]; --d) {
        offset += self.strides[d - 1] - self.sizes[d] * self.strides[d];
        index[d] = 0;
        ++index[d - 1];
      }
    }
  }

  template <typename Element>
  int64_t run(int64_t* before, int threads) const {
    const int64_t count = self.count();
    const int64_t total =
        count_pieces(count, threads, before, [&](int64_t first, int64_t last) { return chosen<Element>(first, last); });
    if (self.rank() == 0) return total;  // zero-dimensional: no indices to write
    parallel_for(pieces_of(count), 1, threads, [&](int64_t first, int64_t last) {
      for (int64_t chunk = first; chunk < last; ++chunk) {
        const int64_t start = chunk * kChosenChunk;
        write<Element>(start, std::min(count - start, kChosenChunk), before[chunk],
                       counted(before, chunk, pieces_of(count), total), total);
      }
    });
    return total;
  }
};

}  // namespace

Status nonzero(const aclTensor& self, bool transposed, aclTensor& out, Plan* plan) {
  Nonzero task{};
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", &task.self));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &task.out));
  if (out.dtype != ACL_INT64) return {ACLNN_ERR_PARAM_INVALID, text("out is ", describe(out), "; it is of int64")};
  const auto rank = static_cast<int64_t>(self.dims.size());
  const int64_t count = task.self.count();
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, transposed ? Dims{rank, count} : Dims{count, rank}, "out"));
  task.transposed = transposed;
  task.packed = out.strides.size() == 2 && out.strides[1] == 1 && out.strides[0] == count;
  task.walk = walk_of(task.self);
  const aclTensor* both[] = {&self, &out};
  prepare_chosen(4 * static_cast<double>(count), count, describe_later(both), plan);
  const int threads = effort_of(4 * static_cast<double>(count)).threads;
  plan->run = [task, threads, rank, transposed, shape = shape_of(out)](void* workspace) {
    auto* before = static_cast<int64_t*>(workspace);
    const int64_t total =
        with_any(task.self.dtype, [&]<typename Element>() { return task.run<Element>(before, threads); });
    shape.set(transposed ? Dims{rank, total} : Dims{total, rank});
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
