#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "ops/core/describe.h"
#include "ops/core/device_number.h"
#include "ops/list/optimizer/kernels.h"
#include "ops/list/optimizer/optimizer.h"
#include "ops/list/optimizer/step_tiles.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

using MakeStep = std::function<AdamStep<double>()>;

struct Task {
  Tiles tiles;
  aclDataType dtype = ACL_FLOAT;
  bool has_max = false;
  MakeStep make_step;
  int threads = 1;

  template <typename T>
  void run_as() const {
    const AdamStep<double> widened = make_step();
    const AdamStep<T> step{static_cast<T>(widened.decay),
                           static_cast<T>(widened.beta1),
                           static_cast<T>(widened.beta2),
                           static_cast<T>(widened.epsilon),
                           static_cast<T>(widened.size),
                           static_cast<T>(widened.root_scale),
                           widened.nesterov,
                           widened.maximize};
    parallel_for(tiles.count(), Tiles::kGrain, threads, [&](int64_t first, int64_t last) {
      tiles.run(first, last, [&](int64_t, void* const* values, size_t count) {
        const auto at = [&](size_t k) { return static_cast<T*>(values[k]); };
        adam_step(step, at(0), at(1), at(2), has_max ? at(4) : nullptr, at(3), count);
      });
    });
  }
};

// Calls `make_step` when the operator runs: it may read device memory.
Status plan_adam(const AdamTensors& tensors, bool amsgrad, MakeStep make_step, Plan* plan) {
  auto task = std::make_shared<Task>();
  using enum Tiles::Access;
  std::vector<StepTensor> all = {{&tensors.var, "var", kUpdate},
                                 {&tensors.m, "m", kUpdate},
                                 {&tensors.v, "v", kUpdate},
                                 {&tensors.grad, "grad", kRead}};
  if (amsgrad) {
    SOFTNPU_RETURN_IF_ERROR(not_null(tensors.max_v, "maxGradNorm, which amsgrad needs,"));
    all.push_back({tensors.max_v, "maxGradNorm", kUpdate});
  }
  SOFTNPU_RETURN_IF_ERROR(make_step_tiles(all, &task->tiles, &task->dtype));
  task->has_max = amsgrad;
  task->make_step = std::move(make_step);
  const double cost = kFlopsPerStep * static_cast<double>(task->tiles.count());
  task->threads = threads_for(cost);
  plan->work = cost;
  plan->describe = describe_later({&tensors.var});
  plan->run = [task = std::shared_ptr<const Task>(std::move(task))](void*) {
    if (task->dtype == ACL_DOUBLE) {
      task->run_as<double>();
    } else {
      task->run_as<float>();
    }
    return Status::ok();
  };
  return Status::ok();
}

struct DeviceNumbers {
  DeviceNumber beta1_power, beta2_power, lr, beta1, beta2, epsilon;
};

Status read(const AdamAttributes& from, DeviceNumbers* out) {
  SOFTNPU_RETURN_IF_ERROR(DeviceNumber::make(from.beta1_power, "beta1Power", &out->beta1_power));
  SOFTNPU_RETURN_IF_ERROR(DeviceNumber::make(from.beta2_power, "beta2Power", &out->beta2_power));
  SOFTNPU_RETURN_IF_ERROR(DeviceNumber::make(from.lr, "lr", &out->lr));
  SOFTNPU_RETURN_IF_ERROR(DeviceNumber::make(from.beta1, "beta1", &out->beta1));
  SOFTNPU_RETURN_IF_ERROR(DeviceNumber::make(from.beta2, "beta2", &out->beta2));
  return DeviceNumber::make(from.epsilon, "epsilon", &out->epsilon);
}

// The step of AdamW; both betas to the power of this step's number.
AdamStep<double> adam_w_step(const AdamNumbers& n, double power1, double power2, double weight_decay, bool maximize) {
  AdamStep<double> step;
  step.decay = 1 - n.lr * weight_decay;
  step.beta1 = n.beta1;
  step.beta2 = n.beta2;
  step.epsilon = n.epsilon;
  step.size = n.lr / (1 - power1);
  step.root_scale = 1 / std::sqrt(1 - power2);
  step.maximize = maximize;
  return step;
}

}  // namespace

Status apply_adam(const AdamTensors& tensors, const AdamAttributes& attributes, bool nesterov, Plan* plan) {
  DeviceNumbers numbers;
  SOFTNPU_RETURN_IF_ERROR(read(attributes, &numbers));
  return plan_adam(
      tensors, false,
      [numbers, nesterov] {
        AdamStep<double> step;
        step.beta1 = numbers.beta1.as_double();
        step.beta2 = numbers.beta2.as_double();
        step.epsilon = numbers.epsilon.as_double();
        step.size = numbers.lr.as_double() * std::sqrt(1 - numbers.beta2_power.as_double()) /
                    (1 - numbers.beta1_power.as_double());
        step.nesterov = nesterov;
        return step;
      },
      plan);
}

Status apply_adam_w(const AdamTensors& tensors, const AdamAttributes& attributes, const aclTensor& weight_decay,
                    bool amsgrad, bool maximize, Plan* plan) {
  DeviceNumbers numbers;
  DeviceNumber decay;
  SOFTNPU_RETURN_IF_ERROR(read(attributes, &numbers));
  SOFTNPU_RETURN_IF_ERROR(DeviceNumber::make(weight_decay, "weightDecay", &decay));
  return plan_adam(
      tensors, amsgrad,
      [numbers, decay, maximize] {
        const AdamNumbers n{numbers.lr.as_double(), numbers.beta1.as_double(), numbers.beta2.as_double(),
                            numbers.epsilon.as_double()};
        return adam_w_step(n, numbers.beta1_power.as_double() * n.beta1, numbers.beta2_power.as_double() * n.beta2,
                           decay.as_double(), maximize);
      },
      plan);
}

Status apply_adam_w(const AdamTensors& tensors, const aclTensor& step, const AdamNumbers& numbers, double weight_decay,
                    bool amsgrad, bool maximize, Plan* plan) {
  DeviceNumber before;
  SOFTNPU_RETURN_IF_ERROR(DeviceNumber::make(step, "step", &before));
  return plan_adam(
      tensors, amsgrad,
      [before, numbers, weight_decay, maximize] {
        const double number = before.as_double() + 1;
        return adam_w_step(numbers, std::pow(numbers.beta1, number), std::pow(numbers.beta2, number), weight_decay,
                           maximize);
      },
      plan);
}

}  // namespace softnpu
