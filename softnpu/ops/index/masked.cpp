// masked_select, masked_scatter, nonzero: count the elements of each piece first, so that each piece knows its
// position.

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "ops/convert/typed.h"
#include "ops/copy/element.h"
#include "ops/describe.h"
#include "ops/dtype.h"
#include "ops/index/operators.h"
#include "ops/iterate/view.h"
#include "ops/iterate/walk.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// Elements per piece: fixed, so that the result does not depend on the threads.
constexpr int64_t kPiece = 1 << 14;

int64_t pieces_of(int64_t count) { return (count + kPiece - 1) / kPiece; }

// Counts the selected elements of each piece by `is_chosen(first, last)`. Writes the sums before each piece, and
// returns the total.
template <typename Count>
int64_t count_pieces(int64_t count, int threads, int64_t* before, const Count& chosen) {
  parallel_for(pieces_of(count), 1, threads, [&](int64_t first, int64_t last) {
    for (int64_t piece = first; piece < last; ++piece) {
      before[piece] = chosen(piece * kPiece, std::min(count, (piece + 1) * kPiece));
    }
  });
  int64_t total = 0;
  for (int64_t piece = 0; piece < pieces_of(count); ++piece) total += std::exchange(before[piece], total);
  return total;
}

// How many elements of a piece were counted: the tensor may be written by another process meanwhile, and no more are
// taken.
int64_t counted(const int64_t* before, int64_t piece, int64_t pieces, int64_t total) {
  return (piece + 1 < pieces ? before[piece + 1] : total) - before[piece];
}

Dims broadcast(const Dims& a, const Dims& b) {
  Dims sizes = a.size() >= b.size() ? a : b;
  const Dims& other = a.size() >= b.size() ? b : a;
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& size = sizes[sizes.size() - other.size() + i];
    if (size == 1) size = other[i];
  }
  return sizes;
}

Status check_mask(const aclTensor& mask) {
  if (mask.dtype == ACL_BOOL || mask.dtype == ACL_UINT8) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID, text("mask is ", describe(mask), "; it is of bool or uint8")};
}

void prepare(double elements, int64_t count, std::string said, Plan* plan) {
  plan->work = effort_of(elements).work;
  plan->workspace_bytes = checked(pieces_of(count)) * sizeof(int64_t);
  plan->describe = [said = std::move(said)] { return said; };
}

Walk<1> walk_of(const View& view) {
  Walk<1> walk;
  for (size_t i = 0; i < view.rank(); ++i) walk.add(view.sizes[i], {view.strides[i]});
  walk.join();
  return walk;
}

// The mask and another tensor, in the mask's logical order.
struct Masked {
  View mask;
  View other;
  Walk<2> walk;

  Masked(const View& of_mask, const View& of_other) : mask(of_mask), other(of_other) {
    for (size_t i = 0; i < mask.rank(); ++i) walk.add(mask.sizes[i], {mask.strides[i], other.strides[i]});
    walk.join();
  }

  int64_t count() const { return walk.count(); }

  int64_t chosen(int64_t first, int64_t last) const {
    int64_t count = 0;
    const ptrdiff_t stride = walk.inner().strides[0];
    walk.for_runs(first, last - first, [&](const Walk<2>::Offsets& at, int64_t run) {
      const char* from = mask.data + at[0];
      for (int64_t i = 0; i < run; ++i) count += from[i * stride] != 0;
    });
    return count;
  }
};

}  // namespace

Status masked_select(const aclTensor& self, const aclTensor& mask, aclTensor& out, Plan* plan) {
  View from;
  View chosen;
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", &from));
  SOFTNPU_RETURN_IF_ERROR(view_of(mask, "mask", &chosen));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  SOFTNPU_RETURN_IF_ERROR(check_mask(mask));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, out));
  const Dims sizes = broadcast(self.dims, mask.dims);
  if (!broadcasts_to(self.dims, sizes) || !broadcasts_to(mask.dims, sizes)) {
    const aclTensor* both[] = {&self, &mask};
    return {ACLNN_ERR_PARAM_INVALID, text("the shapes ", describe(both), " cannot be broadcast together")};
  }
  if (to.rank() != 1) return {ACLNN_ERR_PARAM_INVALID, text("out is ", describe(out), "; it has one dimension")};
  const Masked masked(chosen.expand(sizes), from.expand(sizes));
  const int64_t count = masked.count();
  const aclTensor* all[] = {&self, &mask, &out};
  prepare(3 * static_cast<double>(count), count, describe(all), plan);
  const int threads = effort_of(3 * static_cast<double>(count)).threads;
  plan->run = [masked, to, count, threads, shape = shape_of(out)](void* workspace) -> Status {
    auto* before = static_cast<int64_t*>(workspace);
    const int64_t total =
        count_pieces(count, threads, before, [&](int64_t f, int64_t l) { return masked.chosen(f, l); });
    if (total > to.sizes[0]) {
      return {ACLNN_ERR_PARAM_INVALID, text("the mask chooses ", total, " elements, out has ", to.sizes[0])};
    }
    with_element(static_cast<size_t>(to.element()), [&]<typename T>() {
      parallel_for(pieces_of(count), 1, threads, [&](int64_t first, int64_t last) {
        for (int64_t piece = first; piece < last; ++piece) {
          char* at = to.data + before[piece] * to.strides[0];
          int64_t left = counted(before, piece, pieces_of(count), total);
          const int64_t start = piece * kPiece;
          masked.walk.for_each(start, std::min(count - start, kPiece), [&](const Walk<2>::Offsets& offsets) {
            if (masked.mask.data[offsets[0]] == 0 || left-- <= 0) return;
            std::memcpy(at, masked.other.data + offsets[1], sizeof(T));
            at += to.strides[0];
          });
        }
      });
    });
    shape.set({total});
    return Status::ok();
  };
  return Status::ok();
}

Status masked_scatter(const aclTensor& self, const aclTensor& mask, const aclTensor& source, Plan* plan) {
  View to;
  View chosen;
  View from;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "selfRef", &to));
  SOFTNPU_RETURN_IF_ERROR(view_of(mask, "mask", &chosen));
  SOFTNPU_RETURN_IF_ERROR(view_of(source, "source", &from));
  SOFTNPU_RETURN_IF_ERROR(check_mask(mask));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, source));
  if (!broadcasts_to(mask.dims, self.dims)) {
    return {ACLNN_ERR_PARAM_INVALID, text("a mask of the shape ", describe_shape(mask.dims), " cannot be broadcast to ",
                                          describe_shape(self.dims))};
  }
  const Masked masked(chosen.expand(self.dims), to);
  const int64_t count = masked.count();
  const aclTensor* all[] = {&self, &mask, &source};
  prepare(3 * static_cast<double>(count), count, describe(all), plan);
  const int threads = effort_of(3 * static_cast<double>(count)).threads;
  plan->run = [masked, from, count, threads](void* workspace) -> Status {
    auto* before = static_cast<int64_t*>(workspace);
    const int64_t total =
        count_pieces(count, threads, before, [&](int64_t f, int64_t l) { return masked.chosen(f, l); });
    if (total > from.count()) {
      return {ACLNN_ERR_PARAM_INVALID, text("the mask chooses ", total, " elements, source has ", from.count())};
    }
    const Walk<1> read = walk_of(from);
    const bool is_linear = read.dims() == 1;
    const auto source_at = [&](int64_t k) -> const char* {
      if (is_linear) return from.data + k * read.inner().strides[0];
      const char* at = nullptr;
      read.for_runs(k, 1, [&](const Walk<1>::Offsets& offset, int64_t) { at = from.data + offset[0]; });
      return at;
    };
    with_element(static_cast<size_t>(from.element()), [&]<typename T>() {
      parallel_for(pieces_of(count), 1, threads, [&](int64_t first, int64_t last) {
        for (int64_t piece = first; piece < last; ++piece) {
          int64_t k = before[piece];
          int64_t left = counted(before, piece, pieces_of(count), total);
          const int64_t start = piece * kPiece;
          masked.walk.for_each(start, std::min(count - start, kPiece), [&](const Walk<2>::Offsets& at) {
            if (masked.mask.data[at[0]] == 0 || left-- <= 0) return;
            std::memcpy(masked.other.data + at[1], source_at(k++), sizeof(T));
          });
        }
      });
    });
    return Status::ok();
  };
  return Status::ok();
}

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

  template <typename Element>
  int64_t chosen(int64_t first, int64_t last) const {
    int64_t count = 0;
    const ptrdiff_t stride = walk.inner().strides[0];
    walk.for_runs(first, last - first, [&](const Walk<1>::Offsets& at, int64_t run) {
      const char* from = self.data + at[0];
      for (int64_t i = 0; i < run; ++i) count += is_chosen<Element>(from + i * stride);
    });
    return count;
  }

  // Writes the indices of the nonzero elements from `start` on, `left` at most, to the result from `place` on.
  template <typename Element>
  void write(int64_t start, int64_t count, int64_t place, int64_t left, int64_t total) const {
    const size_t rank = self.rank();
    Dims index(rank);
    for (size_t d = rank; d-- > 0; start /= self.sizes[d]) index[d] = start % self.sizes[d];
    ptrdiff_t offset = 0;
    for (size_t d = 0; d < rank; ++d) offset += index[d] * self.strides[d];
    const ptrdiff_t along = transposed && rank > 0 ? out.strides[1] : out.strides[0];
    ptrdiff_t across = transposed ? out.strides[0] : out.strides[1];
    if (transposed && packed) across = total * out.element();
    char* to = out.data + place * along;
    for (int64_t i = 0; i < count; ++i) {
      if (is_chosen<Element>(self.data + offset) && left-- > 0) {
        for (size_t d = 0; d < rank; ++d)
          std::memcpy(to + static_cast<ptrdiff_t>(d) * across, &index[d], sizeof(int64_t));
        to += along;
      }
      for (size_t d = rank; d-- > 0;) {
        offset += self.strides[d];
        if (++index[d] < self.sizes[d]) break;
        offset -= self.sizes[d] * self.strides[d];
        index[d] = 0;
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
      for (int64_t piece = first; piece < last; ++piece) {
        const int64_t start = piece * kPiece;
        write<Element>(start, std::min(count - start, kPiece), before[piece],
                       counted(before, piece, pieces_of(count), total), total);
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
  prepare(4 * static_cast<double>(count), count, describe(both), plan);
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
