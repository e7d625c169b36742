// The gradient of an embedding: each row of the weights sums the gradients of its own indices.

#include <algorithm>
#include <span>

#include "base/text.h"
#include "ops/core/convert/typed.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/tensor/index/operators.h"
#include "ops/tensor/index/sorted_entries.h"
#include "workers/parallel.h"

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

  template <typename Element>
  void sum(const SortedEntries& rows, int threads) const;
};

template <typename Element>
void EmbeddingBackward::sum(const SortedEntries& rows, int threads) const {
  using T = typename Element::Computed;
  constexpr int64_t kTile = 256;
  const ptrdiff_t read = grad.strides[grad.rank() - 1];
  const ptrdiff_t write = out.strides[1];
  const int64_t grain = std::max<int64_t>(1, kGrainElements / std::max<int64_t>(width, 1) / 4);
  parallel_for(weights, grain, threads, [&](int64_t first, int64_t last) {
    alignas(64) T tile[kTile];
    for (int64_t w = first; w < last; ++w) {
      const std::span<const ptrdiff_t> uses = rows.of(w);
      for (int64_t column = 0; column < width; column += kTile) {
        const int64_t here = std::min(kTile, width - column);
        std::fill_n(tile, here, T{});
        for (const ptrdiff_t row : uses) {
          const char* from = grad.data + row + column * read;
          for (int64_t i = 0; i < here; ++i) tile[i] += Element::load(from + i * read);
        }
        char* to = out.data + w * out.strides[0] + column * write;
        for (int64_t i = 0; i < here; ++i) {
          if (scales && uses.size() > 1) tile[i] /= T(static_cast<float>(uses.size()));
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
  const int64_t count = rows.count();
  const Effort effort = effort_of(2 * (static_cast<double>(count) + static_cast<double>(weights)) *
                                  (static_cast<double>(task.width) + 4));
  plan->work = effort.work;
  plan->workspace_bytes = SortedEntries::workspace_bytes(weights, count);
  const aclTensor* all[] = {&grad, &indices, &out};
  plan->describe = describe_later(all);
  plan->run = [task, rows, effort](void* workspace) {
    SortedEntries sorted(workspace, task.weights);
    SOFTNPU_RETURN_IF_ERROR(sorted.sort(task.indices, rows, 0, task.padding));
    with_inexact(task.out.dtype, [&]<typename Element>() { task.sum<Element>(sorted, effort.threads); });
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
