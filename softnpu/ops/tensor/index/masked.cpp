// masked_select and masked_scatter.

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/element.h"
#include "ops/tensor/index/chosen.h"
#include "ops/tensor/index/operators.h"

namespace softnpu {
namespace {

// Moves the elements whose byte of the mask is not zero to `tile`; returns their number.
template <typename T>
int64_t compress(const char* mask, ptrdiff_t mask_stride, const char* from, ptrdiff_t stride, int64_t count, T* tile) {
  int64_t taken = 0;
  const auto take = [&](int64_t i, ptrdiff_t apart, ptrdiff_t mask_apart) {
    std::memcpy(tile + taken, from + i * apart, sizeof(T));
    taken += mask[i * mask_apart] != 0;
  };
  if (mask_stride == 1 && stride == static_cast<ptrdiff_t>(sizeof(T))) {
    for (int64_t i = 0; i < count; ++i) take(i, sizeof(T), 1);
  } else {
    for (int64_t i = 0; i < count; ++i) take(i, stride, mask_stride);
  }
  return taken;
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
      count += count_nonzero(mask.data + at[0], stride, run);
    });
    return count;
  }

  struct Run {
    int64_t count;
    ptrdiff_t mask_stride;
    ptrdiff_t stride;
  };
  // Calls body(mask, elements, run) for each run of [first, first + count).
  template <typename Body>
  void for_runs(int64_t first, int64_t count, const Body& body) const {
    walk.for_runs(first, count, [&](const Walk<2>::Offsets& at, int64_t run) {
      body(mask.data + at[0], other.data + at[1], Run{run, walk.inner().strides[0], walk.inner().strides[1]});
    });
  }

  // Stores the chosen elements of [first, first + count), `left` at most, from `to` on.
  template <typename T>
  void select(int64_t first, int64_t count, int64_t left, char* to, ptrdiff_t stride) const {
    const ptrdiff_t mask_stride = walk.inner().strides[0];
    const ptrdiff_t from_stride = walk.inner().strides[1];
    walk.for_runs(first, count, [&](const Walk<2>::Offsets& at, int64_t run) {
      T tile[kChosenTile];
      for (int64_t i = 0; i < run && left > 0; i += kChosenTile) {
        const int64_t here = std::min(kChosenTile, run - i);
        const int64_t taken = std::min(left, compress(mask.data + at[0] + i * mask_stride, mask_stride,
                                                      other.data + at[1] + i * from_stride, from_stride, here, tile));
        if (stride == static_cast<ptrdiff_t>(sizeof(T))) {
          std::memcpy(to, tile, static_cast<size_t>(taken) * sizeof(T));
        } else {
          for (int64_t k = 0; k < taken; ++k) std::memcpy(to + k * stride, tile + k, sizeof(T));
        }
        to += taken * stride;
        left -= taken;
      }
    });
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
  prepare_chosen(3 * static_cast<double>(count), count, describe_later(all), plan);
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
        for (int64_t chunk = first; chunk < last; ++chunk) {
          const int64_t start = chunk * kChosenChunk;
          masked.select<T>(start, std::min(count - start, kChosenChunk),
                           counted(before, chunk, pieces_of(count), total), to.data + before[chunk] * to.strides[0],
                           to.strides[0]);
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
  prepare_chosen(3 * static_cast<double>(count), count, describe_later(all), plan);
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
    const ptrdiff_t step = read.inner().strides[0];
    const auto source_at = [&](int64_t k) -> const char* {
      const char* at = nullptr;
      read.for_runs(k, 1, [&](const Walk<1>::Offsets& offset, int64_t) { at = from.data + offset[0]; });
      return at;
    };
    with_element(static_cast<size_t>(from.element()), [&]<typename T>() {
      parallel_for(pieces_of(count), 1, threads, [&](int64_t first, int64_t last) {
        for (int64_t chunk = first; chunk < last; ++chunk) {
          int64_t k = before[chunk];
          int64_t left = counted(before, chunk, pieces_of(count), total);
          const int64_t start = chunk * kChosenChunk;
          masked.for_runs(start, std::min(count - start, kChosenChunk), [&](const char* mask, char* to, auto run) {
            if (!is_linear) {
              for (int64_t i = 0; i < run.count && left > 0; ++i) {
                if (mask[i * run.mask_stride] == 0) continue;
                std::memcpy(to + i * run.stride, source_at(k), sizeof(T));
                ++k;
                --left;
              }
              return;
            }
            // Positions first, without branches, then the chosen elements.
            for (int64_t at = 0; at < run.count && left > 0; at += kChosenTile) {
              const int64_t here = std::min(kChosenTile, run.count - at);
              std::array<int16_t, kChosenTile> chosen;
              int64_t found = 0;
              for (int64_t i = 0; i < here; ++i) {
                chosen[static_cast<size_t>(found)] = static_cast<int16_t>(i);
                found += mask[(at + i) * run.mask_stride] != 0;
              }
              found = std::min(found, left);
              for (int64_t j = 0; j < found; ++j, ++k) {
                std::memcpy(to + (at + chosen[static_cast<size_t>(j)]) * run.stride, from.data + k * step, sizeof(T));
              }
              left -= found;
            }
          });
        }
      });
    });
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
