#include "ops/elementwise/map.h"

#include <memory>

#include "base/small_vector.h"
#include "base/text.h"
#include "ops/describe.h"
#include "ops/elementwise/map_task.h"
#include "ops/iterate/space.h"
#include "ops/onednn/engine.h"

namespace softnpu {
namespace {

// A small mapping whose kernel finds its operands as it wants them. It lies in the plan, nothing of it on the heap.
struct FlatMap {
  MapKernel kernel;
  void* out;
  size_t count;
  std::array<const void*, MapTask::kMostInputs> in;
  decltype(Mapping::constants) constants;

  // Whether all of `space`, whose operands are the result and the inputs, is such memory.
  static bool fits(const Mapping& mapping, size_t inputs, const Space& space) {
    if (space.operands() != inputs + 1 || cost_of(mapping, space.count()) >= kSmallFlops)
      return false;  // or there are scalars
    for (size_t k = 0; k <= inputs; ++k) {
      const Operand& operand = space.operand(k);
      if (operand.is_constant || !is_direct(operand.dtype, mapping.dtype) || !space.is_contiguous(k)) return false;
    }
    return true;
  }

  FlatMap(const Mapping& mapping, const Space& space)
      : kernel(mapping.kernel),
        out(space.operand(0).data),
        count(static_cast<size_t>(space.count())),
        in{},
        constants(mapping.constants) {
    for (size_t k = 1; k < space.operands(); ++k) in[k - 1] = space.operand(k).data;
  }

  Status operator()(void* /*workspace*/) const {
    kernel(out, in.data(), count, constants.data());
    return Status::ok();
  }
};

}  // namespace

void Mapping::set(size_t i, const aclScalar& value) {
  put_scalar(value, dtype, constants.data() + i * wide_size(wide_of(dtype)));
}

void Mapping::set(size_t i, double value) {
  const Wide wide = wide_of(dtype);
  with_wide(wide, [&]<typename T>() {
    const T converted = static_cast<T>(value);
    std::memcpy(constants.data() + i * sizeof converted, &converted, sizeof converted);
  });
}

Status plan_map(const Mapping& mapping, std::initializer_list<MapInput> inputs, const aclTensor& out, Plan* plan) {
  SmallVector<const aclTensor*, Space::kMostOperands> tensors;
  tensors.push_back(&out);
  for (const MapInput& input : inputs) {
    if (input.tensor != nullptr) tensors.push_back(input.tensor);
  }
  const std::span<const aclTensor* const> all(tensors.data(), tensors.size());
  if (mapping.kernel == nullptr) {
    return {ACLNN_ERR_PARAM_INVALID, text("not defined for ", name_of(mapping.dtype), " values: ", describe(all))};
  }
  Space space;
  SOFTNPU_RETURN_IF_ERROR(Space::make(all, 1, &space));
  if (space.count() == 0) {
    plan->is_small = true;
    plan->run = [](void*) { return Status::ok(); };
    return Status::ok();
  }
  plan->describe = describe_later(all);
  if (!plan->wants_sweep && FlatMap::fits(mapping, inputs.size(), space)) {
    plan->is_small = true;
    plan->run = FlatMap(mapping, space);
    return Status::ok();
  }
  auto task = std::make_shared<const MapTask>(mapping, inputs, std::move(space));
  plan->is_small = task->is_small();
  if (task->is_sweep()) plan->sweep = task;
  plan->run = [task = std::move(task)](void*) {
    task->run_all();
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
