#include <memory>
#include <vector>

#include "base/text.h"
#include "ops/core/device_number.h"
#include "ops/list/foreach/list_plan.h"
#include "ops/list/optimizer/kernels.h"
#include "ops/list/optimizer/optimizer.h"
#include "ops/list/optimizer/step_tiles.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

struct Task {
  Tiles tiles;
  aclDataType dtype = ACL_FLOAT;
  bool has_momentum = false;
  bool has_scale = false;
  DeviceNumber grad_scale;
  SgdNumbers numbers{};
  int threads = 1;

  template <typename T>
  void run_as() const {
    const auto as = [](double value) { return static_cast<T>(value); };
    const SgdStep<T> step{as(numbers.weight_decay),
                          as(numbers.momentum),
                          as(numbers.lr),
                          as(numbers.dampening),
                          has_scale ? as(grad_scale.as_double()) : T(1),
                          numbers.nesterov,
                          numbers.maximize,
                          numbers.is_first_step};
    parallel_for(tiles.count(), Tiles::kGrain, threads, [&](int64_t first, int64_t last) {
      tiles.run(first, last, [&](int64_t, void* const* values, size_t count) {
        const auto at = [&](size_t k) { return static_cast<T*>(values[k]); };
        sgd_step(step, at(0), at(1), has_momentum ? at(2) : nullptr, count);
      });
    });
  }
};

}  // namespace

Status fused_sgd(const aclTensorList& params, const aclTensorList& grads, const aclTensorList* momentum_buffers,
                 const aclTensor* grad_scale, const SgdNumbers& numbers, Plan* plan) {
  const bool has_momentum = numbers.momentum != 0;
  SOFTNPU_RETURN_IF_ERROR(check_list(params, "params", params.size()));
  SOFTNPU_RETURN_IF_ERROR(check_list(grads, "grads", params.size()));
  if (has_momentum) {
    SOFTNPU_RETURN_IF_ERROR(not_null(momentum_buffers, "momentumBuffers, which momentum needs,"));
    SOFTNPU_RETURN_IF_ERROR(check_list(*momentum_buffers, "momentumBuffers", params.size()));
  }
  DeviceNumber scale;
  if (grad_scale != nullptr) SOFTNPU_RETURN_IF_ERROR(DeviceNumber::make(*grad_scale, "gradScale", &scale));
  std::vector<ListPart> parts(params.size());
  for (size_t i = 0; i < params.size(); ++i) {
    auto task = std::make_shared<Task>();
    // Gradients are written only if they have a scale.
    const auto gradient = grad_scale != nullptr ? Tiles::Access::kUpdate : Tiles::Access::kRead;
    std::vector<StepTensor> all = {{params[i], "a parameter", Tiles::Access::kUpdate},
                                   {grads[i], "its gradient", gradient}};
    parts[i].writes = {params[i]};
    (grad_scale != nullptr ? parts[i].writes : parts[i].reads).push_back(grads[i]);
    if (has_momentum) {
      all.push_back({(*momentum_buffers)[i], "its momentum", Tiles::Access::kUpdate});
      parts[i].writes.push_back((*momentum_buffers)[i]);
    }
    if (Status status = make_step_tiles(all, &task->tiles, &task->dtype); !status.is_ok()) {
      return {status.code(), text("tensor ", i, " of the list: ", status.message())};
    }
    task->has_momentum = has_momentum;
    task->has_scale = grad_scale != nullptr;
    task->grad_scale = scale;
    task->numbers = numbers;
    const double cost = kFlopsPerStep * static_cast<double>(task->tiles.count());
    task->threads = threads_for(cost);
    parts[i].plan.work = cost;
    parts[i].plan.run = [task = std::shared_ptr<const Task>(std::move(task))](void*) {
      if (task->dtype == ACL_DOUBLE) {
        task->run_as<double>();
      } else {
        task->run_as<float>();
      }
      return Status::ok();
    };
  }
  merge_parts(std::move(parts), false, plan);
  return Status::ok();
}

}  // namespace softnpu
