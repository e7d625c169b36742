// The gradient of an embedding: each row of the weights sums the gradients of its own indices.

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "ops/convert/typed.h"
#include "ops/describe.h"
#include "ops/dtype.h"
#include "ops/index/operators.h"
#include "ops/index/table.h"
#include "ops/iterate/walk.h"
#include "ops/parallel.h"

namespace softnpu {
namespace {

struct EmbeddingBackward {
  View grad;  // [indices, width] in any strides
  View indices;
  View out;  // [weights, width]
  int64_t weights;
  int64_t width;
  int64_t padding;
  bool scales;
  Walk<2> places;  // the indices in order: index, grad

  int64_t count() const { return places.count(); }
  Checked workspace_bytes() const { return (checked(weights) + 1 + count()) * sizeof(int64_t); }

  // Sorts the rows of `grad` by weight: those of weight w are rows[begin[w]] to rows[begin[w + 1]], in order.
  Status sort(int64_t* begin, int64_t* rows) const;
  template <typename Element>
  void sum(const int64_t* begin, const int64_t* rows, int threads) const;
};

Status EmbeddingBackward::sort(int64_t* begin, int64_t* rows) const {
  const bool is_wide = indices.dtype == ACL_INT64;
  std::fill_n(begin, weights + 1, 0);
  Status status = Status::ok();
  places.for_each(0, count(), [&](const Walk<2>::Offsets& at) {
    const int64_t index = load_index(indices.data + at[0], is_wide);
    if (index == padding) return;
    if (index >= 0 && index < weights) {
      ++begin[index];
    } else if (status.is_ok()) {
      status = out_of_range(index, 0, weights, false);
    }
  });
  SOFTNPU_RETURN_IF_ERROR(status);
  // Each weight's end, which then moves down to its begin.
  for (int64_t w = 1; w <= weights; ++w) begin[w] += begin[w - 1];
  Walk<2> backwards;
  View index = indices;
  View row = grad;
  for (size_t i = 0; i < indices.rank(); ++i) {
    index = index.flip(i);
    row = row.flip(i);
    backwards.add(index.sizes[i], {index.strides[i], row.strides[i]});
  }
  backwards.join();
  backwards.for_each(0, count(), [&](const Walk<2>::Offsets& at) {
    const int64_t weight = load_index(index.data + at[0], is_wide);
    if (weight != padding) rows[--begin[weight]] = row.data + at[1] - grad.data;
  });
  return Status::ok();
}

template <typename Element>
void EmbeddingBackward::sum(const int64_t* begin, const int64_t* rows, int threads) const {
  using T = typename Element::Computed;
  constexpr int64_t kTile = 256;
  const ptrdiff_t read = grad.strides[grad.rank() - 1];
  const ptrdiff_t write = out.strides[1];
  const int64_t grain = std::max<int64_t>(1, kGrainElements / std::max<int64_t>(width, 1) / 4);
  parallel_for(weights, grain, threads, [&](int64_t first, int64_t last) {
    alignas(64) T tile[kTile];
    for (int64_t w = first; w < last; ++w) {
      const int64_t uses = begin[w + 1] - begin[w];
      for (int64_t column = 0; column < width; column += kTile) {
        const int64_t here = std::min(kTile, width - column);
        std::fill_n(tile, here, T{});
        for (int64_t k = begin[w]; k < begin[w + 1]; ++k) {
          const char* from = grad.data + rows[k] + column * read;
          for (int64_t i = 0; i < here; ++i) tile[i] += Element::load(from + i * read);
        }
        char* to = out.data + w * out.strides[0] + column * write;
        for (int64_t i = 0; i < here; ++i) {
          if (scales && uses > 1) tile[i] /= T(static_cast<float>(uses));
          Element::store(to + i * write, tile[i]);
        }
      }
    }
  });
}

}  // namespace

Status embedding_backward(const aclTensor& grad, const aclTensor& indices, int64_t weights, int64_t padding,
                          bool scale_by_frequency, const aclTensor& out, Plan* plan) {
  EmbeddingBackward task{};
  SOFTNPU_RETURN_IF_ERROR(view_of(grad, "grad", &task.grad));
  SOFTNPU_RETURN_IF_ERROR(view_of(indices, "indices", &task.indices));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &task.out));
  SOFTNPU_RETURN_IF_ERROR(require_index(indices, "indices"));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(grad, out));
  if (is_integral(out.dtype)) {
    return {ACLNN_ERR_PARAM_INVALID, text("there is no gradient of ", name_of(out.dtype), " values")};
  }
  if (grad.dims.empty()) return {ACLNN_ERR_PARAM_INVALID, "grad has no dimensions; its last one is a row of weights"};
  task.weights = weights;
  task.width = grad.dims[grad.dims.size() - 1];
  task.padding = padding;
  task.scales = scale_by_frequency;
  if (weights < 0) return {ACLNN_ERR_PARAM_INVALID, text("numWeights ", weights, " is negative")};
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, {weights, task.width}, "out"));
  const View rows = task.grad.erase(task.grad.rank() - 1);
  if (rows.sizes != task.indices.sizes) {
    return {ACLNN_ERR_PARAM_INVALID, text("grad is ", describe(grad), " where indices are ", describe(indices))};
  }
  for (size_t i = 0; i < rows.rank(); ++i) task.places.add(rows.sizes[i], {task.indices.strides[i], rows.strides[i]});
  task.places.join();
  const Effort effort = effort_of(2 * (static_cast<double>(task.count()) + static_cast<double>(weights)) *
                                  (static_cast<double>(task.width) + 4));
  plan->work = effort.work;
  plan->workspace_bytes = task.workspace_bytes();
  const aclTensor* all[] = {&grad, &indices, &out};
  plan->describe = describe_later(all);
  plan->run = [task, effort](void* workspace) {
    auto* begin = static_cast<int64_t*>(workspace);
    int64_t* sorted = begin + task.weights + 1;
    SOFTNPU_RETURN_IF_ERROR(task.sort(begin, sorted));
    with_inexact(task.out.dtype, [&]<typename Element>() { task.sum<Element>(begin, sorted, effort.threads); });
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
