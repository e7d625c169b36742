#include "ops/math/elementwise/map.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/small_vector.h"
#include "base/text.h"
#include "ops/core/convert/number.h"
#include "ops/core/describe.h"
#include "ops/core/format/nc1hwc0.h"
#include "ops/core/iterate/space.h"
#include "ops/core/iterate/view.h"
#include "ops/core/operand_run.h"
#include "ops/math/elementwise/fill.h"
#include "ops/math/elementwise/flat_loop.h"
#include "ops/math/elementwise/map_task.h"
#include "simd/non_temporal.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

// A mapping whose operands need no conversion and are contiguous, with a result that stays in the caches. Stored in the
// plan, where it has few elements without heap memory.
struct FlatMap {
  MapKernel kernel;
  size_t count;
  size_t inputs;
  uint32_t element_bytes;
  double cost_per_element;
  std::array<void*, MapTask::kMaxInputs + 1> operands;  // the result, then the inputs
  decltype(Mapping::constants) constants;

  // Whether all operands of `space`, the result and the inputs, are such memory.
  static bool fits(const Mapping& mapping, size_t inputs, const Space& space) {
    if (space.operands() != inputs + 1) return false;  // there are scalars
    const auto bytes = static_cast<int64_t>(compute_type_size(compute_type_of(mapping.dtype)));
    return space.count() * bytes < kNonTemporalBytes &&
           all_contiguous(space, [&](aclDataType dtype) { return is_direct(dtype, mapping.dtype); });
  }

  // The same for bytes that are truths.
  static bool fits_truths(const Mapping& mapping, size_t inputs, const Space& space) {
    return mapping.of_truths != nullptr && space.operands() == inputs + 1 &&
           all_contiguous(space, [](aclDataType dtype) { return dtype == ACL_BOOL; });
  }

  FlatMap(const Mapping& mapping, const Space& space)
      : FlatMap(mapping, space, mapping.kernel,
                static_cast<uint32_t>(compute_type_size(compute_type_of(mapping.dtype))), cost_of(mapping, 1)) {}

  static FlatMap of_truths(const Mapping& mapping, const Space& space) {
    constexpr double kCost = 4;  // a quarter of the memory of float32
    return {mapping, space, mapping.of_truths, 1, kCost};
  }

  size_t operand_count() const { return inputs + 1; }
  double element_cost() const { return cost_per_element; }

  Status operator()(void* /*workspace*/) const {
    parallel_for(static_cast<int64_t>(count), kGrain, threads_for(work()),
                 [this](int64_t first, int64_t last) { run(first, last); });
    return Status::ok();
  }

  // The elements [first, last).
  void run(int64_t first, int64_t last) const {
    std::array<void*, MapTask::kMaxInputs + 1> at{};
    for (size_t k = 0; k <= inputs; ++k) at[k] = static_cast<char*>(operands[k]) + first * element_bytes;
    kernel(at[0], at.data() + 1, static_cast<size_t>(last - first), constants.data());
  }

  void put(Plan* plan) const {
    const bool is_small = static_cast<int64_t>(count) < kMinLoopElements;
    plan->work = is_small && work() < kSmallWork ? 0 : work();
    plan->run = *this;
    plan->rebindable = &RebindableRun<FlatMap>::make;
    if (!is_small) plan->fusible = as_loop();
  }
  std::shared_ptr<const ElementwiseLoop> as_loop() const { return std::make_shared<const FlatLoop<FlatMap>>(*this); }

 private:
  // The smallest piece for a thread.
  static constexpr int64_t kGrain = int64_t{1} << 14;

  FlatMap(const Mapping& mapping, const Space& space, MapKernel run, uint32_t bytes, double cost)
      : kernel(run),
        count(static_cast<size_t>(space.count())),
        inputs(space.operands() - 1),
        element_bytes(bytes),
        cost_per_element(cost),
        operands{},
        constants(mapping.constants) {
    for (size_t k = 0; k <= inputs; ++k) operands[k] = space.operand(k).data;
  }

  template <typename Fits>
  static bool all_contiguous(const Space& space, const Fits& fits) {
    for (size_t k = 0; k < space.operands(); ++k) {
      const Operand& operand = space.operand(k);
      if (operand.is_constant || !fits(operand.dtype) || !space.is_contiguous(k)) return false;
    }
    return true;
  }

  double work() const { return cost_per_element * static_cast<double>(count); }
};

// Whether `mapping` maps zeros to 0, given the scalars among `inputs`.
bool keeps_zeros(const Mapping& mapping, std::span<const MapInput> inputs) {
  constexpr size_t kBytes = 16;  // of the widest type
  alignas(kBytes) std::byte values[MapTask::kMaxInputs + 1][kBytes]{};
  const void* in[MapTask::kMaxInputs]{};
  size_t i = 0;
  for (const MapInput& input : inputs) {
    if (input.scalar != nullptr) put_input(*input.scalar, mapping, i, values[i]);
    in[i] = values[i];
    ++i;
  }
  std::byte* const out = values[MapTask::kMaxInputs];
  mapping.kernel(out, in, 1, mapping.constants.data());
  return std::ranges::all_of(std::span(out, kBytes), [](std::byte byte) { return byte == std::byte{0}; });
}

// Tensors in blocked formats, element by element in memory order.
Status plan_map_of_blocked_format(const Mapping& mapping, std::span<const MapInput> inputs,
                                  std::span<const aclTensor* const> tensors, const aclTensor& out, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_same_blocked_format(tensors));
  if (!has_full_blocks(out) && !keeps_zeros(mapping, inputs)) {
    return {ACLNN_ERR_PARAM_INVALID, text("not defined for blocks that are not full: ", describe(tensors))};
  }
  const aclTensor result = elements_in_memory_order(out);
  std::vector<aclTensor> elements;
  elements.reserve(inputs.size());
  std::vector<MapInput> seen(inputs.begin(), inputs.end());
  for (MapInput& input : seen) {
    if (input.tensor == nullptr) continue;
    elements.push_back(elements_in_memory_order(*input.tensor));
    input.tensor = &elements.back();
  }
  return plan_map(mapping, seen, result, plan);
}

}  // namespace

void Mapping::set(size_t i, const aclScalar& value, bool is_rounded) {
  std::byte* const to = constants.data() + i * compute_type_size(compute_type_of(dtype));
  put_scalar(value, dtype, to);
  if (is_rounded) round_value(dtype, to);
}

void Mapping::set(size_t i, double value) {
  const ComputeType compute_type = compute_type_of(dtype);
  with_compute_type(compute_type, [&]<typename T>() {
    const T converted = static_cast<T>(value);
    std::memcpy(constants.data() + i * sizeof converted, &converted, sizeof converted);
  });
}

Status plan_map(const Mapping& mapping, std::span<const MapInput> inputs, const aclTensor& out, Plan* plan) {
  SmallVector<const aclTensor*, Space::kMaxOperands> tensors;
  tensors.push_back(&out);
  for (const MapInput& input : inputs) {
    if (input.tensor != nullptr) tensors.push_back(input.tensor);
  }
  const std::span<const aclTensor* const> all(tensors.data(), tensors.size());
  if (mapping.kernel == nullptr) {
    return {ACLNN_ERR_PARAM_INVALID, text("not defined for ", name_of(mapping.dtype), " values: ", describe(all))};
  }
  if (std::ranges::any_of(all, [](const aclTensor* tensor) { return is_blocked_format(*tensor); })) [[unlikely]] {
    return plan_map_of_blocked_format(mapping, inputs, all, out, plan);
  }
  Space space;
  SOFTNPU_RETURN_IF_ERROR(Space::make(all, 1, &space));
  if (space.count() == 0) return plan_nothing(plan);
  plan->describe = describe_later(all);
  if (plan_fill(mapping, inputs, space, plan)) return Status::ok();
  if (FlatMap::fits_truths(mapping, inputs.size(), space)) {
    FlatMap::of_truths(mapping, space).put(plan);
    return Status::ok();
  }
  if (FlatMap::fits(mapping, inputs.size(), space)) {
    FlatMap(mapping, space).put(plan);
    return Status::ok();
  }
  auto task = std::make_shared<const MapTask>(mapping, inputs, std::move(space));
  plan->work = task->work();
  if (task->is_loop()) plan->fusible = task;
  plan->run = [task = std::move(task), threads = threads_for(plan->work)](void*) {
    task->run_all(threads);
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
