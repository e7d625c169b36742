#include <atomic>
#include <limits>
#include <memory>

#include "base/text.h"
#include "ops/core/dtype.h"
#include "ops/core/tensor_memory.h"
#include "ops/list/foreach/chunks.h"
#include "ops/list/foreach/foreach.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr double kFlopsPerElement = 16;

// values *= scale; returns whether one was infinite or NaN before: only then is x - x not 0.
template <typename T>
bool unscale_tile(T* values, size_t count, T scale) {
  T rest = 0;
  for (size_t i = 0; i < count; ++i) {
    const T difference = values[i] - values[i];
    rest = difference == 0 ? rest : T(1);
    values[i] = scale == 1 ? values[i] : values[i] * scale;
  }
  return rest != 0;
}

struct Task {
  ListPieces list;
  std::vector<ComputeType> compute_types;
  const float* inverse_scale = nullptr;
  float* found_inf = nullptr;
  int threads = 1;

  void run() const {
    const float scale = *inverse_scale;
    std::atomic<bool> found{false};
    parallel_for(static_cast<int64_t>(list.pieces.size()), 1, threads, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const ListChunk& chunk = list.pieces[static_cast<size_t>(i)];
        list.tensors[chunk.tensor].run(chunk.first, chunk.last, [&](int64_t, void* const* values, size_t count) {
          const bool here = compute_types[chunk.tensor] == ComputeType::kF64
                                ? unscale_tile(static_cast<double*>(values[0]), count, static_cast<double>(scale))
                                : unscale_tile(static_cast<float*>(values[0]), count, scale);
          if (here) found.store(true, std::memory_order_relaxed);
        });
      }
    });
    if (found.load(std::memory_order_relaxed)) *found_inf = 1;
  }
};

Status one_float(const aclTensor& tensor, const char* role, float** out) {
  if (tensor.dtype != ACL_FLOAT || element_count(tensor) != 1) {
    return {ACLNN_ERR_PARAM_INVALID, text(role, " has to be one float32 number, and is of ", name_of(tensor.dtype),
                                          " with ", element_count(tensor), " elements")};
  }
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
  *out = static_cast<float*>(data);
  return Status::ok();
}

}  // namespace

Status unscale(const aclTensorList& grads, const aclTensor& found_inf, const aclTensor& inverse_scale, Plan* plan) {
  auto task = std::make_shared<Task>();
  SOFTNPU_RETURN_IF_ERROR(cut_list(grads, "scaledGrads", Tiles::Access::kUpdate, &task->list));
  for (const aclTensor* grad : grads) {
    if (is_complex(grad->dtype)) return {ACLNN_ERR_PARAM_INVALID, "complex gradients cannot be unscaled"};
    task->compute_types.push_back(compute_type_of(grad->dtype));
  }
  float* scale = nullptr;
  SOFTNPU_RETURN_IF_ERROR(one_float(inverse_scale, "inverseScale", &scale));
  task->inverse_scale = scale;
  SOFTNPU_RETURN_IF_ERROR(one_float(found_inf, "foundInf", &task->found_inf));
  const double cost = kFlopsPerElement * task->list.elements;
  task->threads = threads_for(cost);
  plan->work = cost;
  plan->describe = [count = grads.size()] { return text("(", count, " gradients)"); };
  plan->run = [task = std::shared_ptr<const Task>(std::move(task))](void*) {
    task->run();
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
