// Launches of calls that differ from an earlier one in addresses only.

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/border.h"
#include "base/text.h"
#include "base/work.h"
#include "nnopbase/planned.h"
#include "nnopbase/trace_operands.h"
#include "softnpu/launch_cache.h"
#include "softnpu/softnpu.h"

using softnpu::api;
using softnpu::executors;
using softnpu::Plan;
using softnpu::Planned;
using softnpu::Status;
using softnpu::text;

namespace {

constexpr size_t kMaxTensors = 16;

using Kernels = std::array<void*, kMaxTensors>;

}  // namespace

// A call that is launched again without planning. Immutable: several threads may launch it.
struct softnpuCachedLaunch {
  const char* op;
  std::vector<size_t> bytes;                       // per tensor
  std::shared_ptr<const std::string> operands;     // of a LaunchTemplate
  bool was_recorded = softnpu::traces_operands();  // when the call was cached: `operands` are known, where it has any

  // Either for other tensors with the same descriptions:
  std::unique_ptr<const softnpu::RebindablePlan> call;
  std::vector<size_t> tensor_of;  // per operand
  std::vector<size_t> written;    // indices of tensors

  // or for the same tensors, at these kernel addresses.
  std::shared_ptr<const softnpu::LaunchTemplate> launched;
  Kernels kernels{};
};

namespace {

// Finds the addresses at which kernels access the tensors.
Status find(const void* const* tensors, const size_t* bytes, size_t count, Kernels* out) {
  for (size_t i = 0; i < count; ++i) {
    if (softnpuProbeAddress(tensors[i], bytes[i], &(*out)[i]) == ACL_SUCCESS) continue;
    return {ACLNN_ERR_PARAM_INVALID, text("tensor ", i, " at ", tensors[i], " does not lie in one allocation of ",
                                          bytes[i], " bytes of device memory")};
  }
  return Status::ok();
}

// A cached launch of `planned` on `count` tensors. Null if the call needs planning each time, or if one of its operands
// is none of the tensors.
std::unique_ptr<softnpuCachedLaunch> cache(const Planned& planned, const void* const* tensors, const size_t* bytes,
                                           size_t count) {
  const auto& [op, plan, watched, operands, lacks_memory] = planned.launched();
  if (plan.rebindable == nullptr || watched != nullptr || lacks_memory) return nullptr;
  Kernels kernels{};
  if (!find(tensors, bytes, count, &kernels).is_ok()) return nullptr;
  auto cached = std::make_unique<softnpuCachedLaunch>();
  cached->op = op;
  cached->operands = operands == nullptr && cached->was_recorded ? softnpu::operands_of(planned) : operands;
  cached->call = plan.rebindable(plan);
  cached->bytes.assign(bytes, bytes + count);
  for (const void* operand : cached->call->operands()) {
    const size_t tensor = std::find(kernels.begin(), kernels.begin() + count, operand) - kernels.begin();
    if (tensor == count) return nullptr;
    cached->tensor_of.push_back(tensor);
  }
  for (const auto& [address, size] : plan.written) {
    const size_t tensor = std::find(tensors, tensors + count, address) - tensors;
    if (tensor == count || bytes[tensor] != size) return nullptr;
    cached->written.push_back(tensor);
  }
  return cached;
}

// A launch of `planned` on the same tensors only; its plan is shared from then on. Null if the call is not small.
std::unique_ptr<softnpuCachedLaunch> fix(Planned* planned, const void* const* tensors, const size_t* bytes,
                                         size_t count) {
  // More work takes much longer than its first phase, which chooses its threads.
  const auto& [op, plan, watched, operands, lacks_memory] = planned->launched();
  if (plan.work >= softnpu::kMinParallelWork || watched != nullptr || lacks_memory) return nullptr;
  auto cached = std::make_unique<softnpuCachedLaunch>();
  if (!find(tensors, bytes, count, &cached->kernels).is_ok()) return nullptr;
  cached->op = planned->own.op;
  cached->bytes.assign(bytes, bytes + count);
  if (planned->shared == nullptr) {
    if (operands == nullptr && cached->was_recorded) planned->own.operands = softnpu::operands_of(*planned);
    planned->shared = std::make_shared<const softnpu::LaunchTemplate>(std::move(planned->own));
  }
  cached->launched = planned->shared;
  return cached;
}

// Calls make(planned) with the plan of `executor`, which no other thread may launch meanwhile.
template <typename Make>
Status cache_executor(const aclOpExecutor* executor, const void* const* tensors, const size_t* bytes, size_t count,
                      softnpuCachedLaunch** cached, const Make& make) {
  SOFTNPU_RETURN_IF_ERROR(softnpu::require(cached, "cached"));
  *cached = nullptr;
  if (count > kMaxTensors) return Status::ok();
  SOFTNPU_RETURN_IF_ERROR(softnpu::require(tensors, "tensors"));
  SOFTNPU_RETURN_IF_ERROR(softnpu::require(bytes, "bytes"));
  Planned* planned = executors().claim(softnpu::name_of(executor));
  if (planned == nullptr) return softnpu::unknown_executor(executor);
  const auto give_back = [](Planned* claimed) { executors().give_back(claimed); };
  const std::unique_ptr<Planned, decltype(give_back)> claimed(planned, give_back);
  *cached = make(claimed.get()).release();
  return Status::ok();
}

// Plans the call for tensors at `kernels`.
Status bind(const softnpuCachedLaunch& cached, const void* const* tensors, const Kernels& kernels, Plan* plan) {
  Kernels operands;
  const size_t count = cached.tensor_of.size();
  for (size_t i = 0; i < count; ++i) operands[i] = kernels[cached.tensor_of[i]];
  SOFTNPU_RETURN_IF_ERROR(cached.call->rebind(std::span(operands).first(count), plan));
  for (const size_t i : cached.written) plan->written.push_back({tensors[i], cached.bytes[i]});
  return Status::ok();
}

bool is_at_fixed(const softnpuCachedLaunch& cached, const Kernels& kernels) {
  return std::equal(kernels.begin(), kernels.begin() + cached.bytes.size(), cached.kernels.begin());
}

}  // namespace

aclError softnpuCacheLaunch(const aclOpExecutor* executor, const void* const* tensors, const size_t* bytes,
                            size_t count, softnpuCachedLaunch** cached) {
  return api("softnpuCacheLaunch", [&] {
    return cache_executor(executor, tensors, bytes, count, cached,
                          [&](const Planned* planned) { return cache(*planned, tensors, bytes, count); });
  });
}

aclError softnpuCacheFixedLaunch(const aclOpExecutor* executor, const void* const* tensors, const size_t* bytes,
                                 size_t count, uint64_t* workspaceBytes, softnpuCachedLaunch** cached) {
  return api("softnpuCacheFixedLaunch", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(workspaceBytes, "workspaceBytes"));
    return cache_executor(executor, tensors, bytes, count, cached, [&](Planned* planned) {
      *workspaceBytes = planned->launched().plan.workspace_bytes.bytes();
      return fix(planned, tensors, bytes, count);
    });
  });
}

aclError softnpuLaunchCached(const softnpuCachedLaunch* cached, const void* const* tensors, void* workspace,
                             aclrtStream stream) {
  return api("softnpuLaunchCached", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(cached, "cached"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(tensors, "tensors"));
    if (softnpuWatchesOverflow() != 0) {
      return {ACLNN_ERR_PARAM_INVALID, "the launch was cached before anything watched launches: plan it again"};
    }
    if (softnpu::traces_operands() && !cached->was_recorded) {
      return {ACLNN_ERR_PARAM_INVALID, "the launch was cached before a recording of operands: plan it again"};
    }
    Kernels kernels;
    SOFTNPU_RETURN_IF_ERROR(find(tensors, cached->bytes.data(), cached->bytes.size(), &kernels));
    void* kernel_workspace = nullptr;
    if (cached->launched != nullptr) {
      if (!is_at_fixed(*cached, kernels)) {
        return {ACLNN_ERR_PARAM_INVALID, "the launch was cached for tensors at other addresses"};
      }
      SOFTNPU_RETURN_IF_ERROR(softnpu::find_workspace(cached->launched->plan, workspace, &kernel_workspace));
    }
    Planned* planned = softnpu::make_launch(cached->op);
    planned->context.workspace = kernel_workspace;
    planned->shared = cached->launched;
    planned->own.operands = cached->operands;
    if (cached->launched == nullptr) {
      if (Status status = bind(*cached, tensors, kernels, &planned->own.plan); !status.is_ok()) {
        executors().recycle(planned);
        return status;
      }
    }
    return softnpu::submit(planned, stream);
  });
}

void softnpuReleaseCachedLaunch(softnpuCachedLaunch* cached) { delete cached; }
