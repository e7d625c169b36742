#include "nnopbase/cached_launch.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/border.h"
#include "base/text.h"
#include "base/work.h"
#include "nnopbase/planned.h"
#include "softnpu/launch_cache.h"
#include "softnpu/softnpu.h"

using softnpu::api;
using softnpu::CachedLaunch;
using softnpu::executors;
using softnpu::Plan;
using softnpu::Planned;
using softnpu::Status;
using softnpu::text;

namespace {

constexpr size_t kMostTensors = 16;

using Kernels = std::array<void*, kMostTensors>;

}  // namespace

// Immutable: several threads may launch it.
struct softnpuCachedLaunch {
  const char* op;
  std::vector<size_t> bytes;  // per tensor

  // Either for other tensors:
  std::unique_ptr<const CachedLaunch> launch;
  std::vector<size_t> tensor_of;  // per operand
  std::vector<size_t> written;    // indices of tensors

  // or fixed: the plan, and the kernel addresses of its tensors.
  std::shared_ptr<const Plan> plan;
  Kernels kernels{};
};

namespace {

// Finds the addresses at which kernels access the tensors.
Status find(const void* const* tensors, const size_t* bytes, size_t count, Kernels* out) {
  for (size_t i = 0; i < count; ++i) {
    if (softnpuKernelAddress(tensors[i], bytes[i], &(*out)[i]) == ACL_SUCCESS) continue;
    return {ACLNN_ERR_PARAM_INVALID, text("tensor ", i, " at ", tensors[i], " does not lie in one allocation of ",
                                          bytes[i], " bytes of device memory")};
  }
  return Status::ok();
}

// A cached launch of `planned` on `count` tensors. Null if the call needs planning each time, or if one of its operands
// is none of the tensors.
std::unique_ptr<softnpuCachedLaunch> cache(const Planned& planned, const void* const* tensors, const size_t* bytes,
                                           size_t count) {
  if (planned.plan.cached_launch == nullptr) return nullptr;
  Kernels kernels{};
  if (!find(tensors, bytes, count, &kernels).is_ok()) return nullptr;
  auto cached = std::make_unique<softnpuCachedLaunch>();
  cached->op = planned.op;
  cached->launch = planned.plan.cached_launch(planned.plan);
  cached->bytes.assign(bytes, bytes + count);
  for (const void* operand : cached->launch->operands()) {
    const size_t tensor = std::find(kernels.begin(), kernels.begin() + count, operand) - kernels.begin();
    if (tensor == count) return nullptr;
    cached->tensor_of.push_back(tensor);
  }
  for (const auto& [address, size] : planned.plan.written) {
    const size_t tensor = std::find(tensors, tensors + count, address) - tensors;
    if (tensor == count || bytes[tensor] != size) return nullptr;
    cached->written.push_back(tensor);
  }
  return cached;
}

// Makes a plan that runs `shared`, without its written ranges.
void share(const std::shared_ptr<const Plan>& shared, Plan* plan) noexcept {
  plan->workspace_bytes = shared->workspace_bytes;
  plan->work = shared->work;
  plan->fusible = shared->fusible;
  plan->run = [shared](void* workspace) { return shared->run(workspace); };
  if (shared->describe) plan->describe = [shared] { return shared->describe(); };
}

// A fixed launch of `planned`, which then runs the plan of the launch. Null if the call is not small.
std::unique_ptr<softnpuCachedLaunch> fix(Planned* planned, const void* const* tensors, const size_t* bytes,
                                         size_t count) {
  // More work takes much longer than its first phase, which chooses its threads.
  if (planned->plan.work >= softnpu::kMinParallelWork) return nullptr;
  auto cached = std::make_unique<softnpuCachedLaunch>();
  if (!find(tensors, bytes, count, &cached->kernels).is_ok()) return nullptr;
  cached->op = planned->op;
  cached->bytes.assign(bytes, bytes + count);
  auto written = planned->plan.written;
  const auto plan = std::make_shared<Plan>();
  // From here on nothing throws.
  *plan = std::exchange(planned->plan, Plan());
  share(plan, &planned->plan);
  planned->plan.written = std::move(written);
  cached->plan = plan;
  return cached;
}

// Calls make(planned) with the plan of `executor`, which no other thread may launch meanwhile.
template <typename Make>
Status cache_executor(const aclOpExecutor* executor, const void* const* tensors, const size_t* bytes, size_t count,
                      softnpuCachedLaunch** cached, const Make& make) {
  SOFTNPU_RETURN_IF_ERROR(softnpu::require(cached, "cached"));
  *cached = nullptr;
  if (count > kMostTensors) return Status::ok();
  SOFTNPU_RETURN_IF_ERROR(softnpu::require(tensors, "tensors"));
  SOFTNPU_RETURN_IF_ERROR(softnpu::require(bytes, "bytes"));
  Planned* planned = executors().claim(softnpu::name_of(executor));
  if (planned == nullptr) return softnpu::unknown_executor(executor);
  const auto give_back = [](Planned* claimed) { executors().give_back(claimed); };
  const std::unique_ptr<Planned, decltype(give_back)> claimed(planned, give_back);
  *cached = make(claimed.get()).release();
  return Status::ok();
}

// Binds `planned` to tensors at `kernels`.
void bind(const softnpuCachedLaunch& cached, const void* const* tensors, const Kernels& kernels, Planned* planned) {
  Kernels operands;
  const size_t count = cached.tensor_of.size();
  for (size_t i = 0; i < count; ++i) operands[i] = kernels[cached.tensor_of[i]];
  cached.launch->plan(std::span(operands).first(count), &planned->plan);
  for (const size_t i : cached.written) planned->plan.written.push_back({tensors[i], cached.bytes[i]});
}

// The kernel's address of a workspace for a fixed launch; null if it needs none.
Status find_workspace(const Plan& plan, const void* workspace, void** kernel) {
  const uint64_t needed = plan.workspace_bytes.bytes();
  if (needed == 0 || softnpuKernelAddress(workspace, needed, kernel) == ACL_SUCCESS) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID,
          text("the workspace ", workspace, " does not lie in one allocation of ", needed, " bytes of device memory")};
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
      *workspaceBytes = planned->plan.workspace_bytes.bytes();
      return fix(planned, tensors, bytes, count);
    });
  });
}

aclError softnpuLaunchCached(const softnpuCachedLaunch* cached, const void* const* tensors, void* workspace,
                             aclrtStream stream) {
  return api("softnpuLaunchCached", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(cached, "cached"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(tensors, "tensors"));
    Kernels kernels;
    const size_t count = cached->bytes.size();
    SOFTNPU_RETURN_IF_ERROR(find(tensors, cached->bytes.data(), count, &kernels));
    void* kernel_workspace = nullptr;
    if (cached->plan != nullptr) {
      if (!std::equal(kernels.begin(), kernels.begin() + count, cached->kernels.begin())) {
        return {ACLNN_ERR_PARAM_INVALID, "the launch was cached for tensors at other addresses"};
      }
      SOFTNPU_RETURN_IF_ERROR(find_workspace(*cached->plan, workspace, &kernel_workspace));
    }
    Planned* planned = softnpu::make_launch(cached->op);
    planned->workspace = kernel_workspace;
    if (cached->plan != nullptr) {
      share(cached->plan, &planned->plan);
      planned->plan.written = cached->plan->written;
    } else {
      bind(*cached, tensors, kernels, planned);
    }
    return softnpu::submit(planned, stream);
  });
}

void softnpuReleaseCachedLaunch(softnpuCachedLaunch* cached) { delete cached; }
