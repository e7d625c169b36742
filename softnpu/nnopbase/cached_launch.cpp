// Launches of calls that differ from an earlier one in addresses only.

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/border.h"
#include "base/text.h"
#include "nnopbase/planned.h"
#include "softnpu/launch_cache.h"
#include "softnpu/softnpu.h"

using softnpu::api;
using softnpu::executors;
using softnpu::Plan;
using softnpu::Planned;
using softnpu::Status;
using softnpu::text;

// A call's plan that can be bound to other tensors with the same descriptions: launching it again needs no planning.
// Immutable: several threads may launch it.
struct softnpuCachedLaunch {
  const char* op;
  std::unique_ptr<const softnpu::Rebindable> call;
  std::vector<size_t> tensor_of;  // per operand
  std::vector<size_t> bytes;      // per tensor
  std::vector<size_t> written;    // indices of tensors
};

namespace {

constexpr size_t kMostTensors = 8;

using Kernels = std::array<void*, kMostTensors>;

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
  const auto& [op, plan] = planned.own;
  if (plan.cached_launch == nullptr) return nullptr;
  Kernels kernels{};
  if (!find(tensors, bytes, count, &kernels).is_ok()) return nullptr;
  auto cached = std::make_unique<softnpuCachedLaunch>();
  cached->op = op;
  cached->call = plan.cached_launch(plan);
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

}  // namespace

aclError softnpuCacheLaunch(const aclOpExecutor* executor, const void* const* tensors, const size_t* bytes,
                            size_t count, softnpuCachedLaunch** cached) {
  return api("softnpuCacheLaunch", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(cached, "cached"));
    *cached = nullptr;
    if (count > kMostTensors) return Status::ok();
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(tensors, "tensors"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(bytes, "bytes"));
    Planned* planned = executors().claim(softnpu::name_of(executor));
    if (planned == nullptr) return softnpu::unknown_executor(executor);
    const auto give_back = [](Planned* claimed) { executors().give_back(claimed); };
    const std::unique_ptr<Planned, decltype(give_back)> claimed(planned, give_back);
    *cached = cache(*claimed, tensors, bytes, count).release();
    return Status::ok();
  });
}

aclError softnpuLaunchCached(const softnpuCachedLaunch* cached, const void* const* tensors, aclrtStream stream) {
  return api("softnpuLaunchCached", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(cached, "cached"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(tensors, "tensors"));
    Kernels kernels;
    SOFTNPU_RETURN_IF_ERROR(find(tensors, cached->bytes.data(), cached->bytes.size(), &kernels));
    Kernels operands;
    const size_t count = cached->tensor_of.size();
    for (size_t i = 0; i < count; ++i) operands[i] = kernels[cached->tensor_of[i]];
    Planned* planned = softnpu::make_launch(cached->op);
    Plan& plan = planned->own.plan;
    if (Status status = cached->call->rebind(std::span(operands).first(count), &plan); !status.is_ok()) {
      executors().recycle(planned);
      return status;
    }
    for (const size_t i : cached->written) plan.written.push_back({tensors[i], cached->bytes[i]});
    return softnpu::submit(planned, stream);
  });
}

void softnpuReleaseCachedLaunch(softnpuCachedLaunch* cached) { delete cached; }
