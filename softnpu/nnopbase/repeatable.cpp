// Executors that are launched repeatedly, and the replacement of their addresses between launches.

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "aclnn/acl_meta.h"
#include "base/border.h"
#include "base/no_destroy.h"
#include "base/text.h"
#include "nnopbase/objects.h"
#include "nnopbase/planned.h"

using softnpu::api;
using softnpu::BoundCall;
using softnpu::BoundTensor;
using softnpu::check_object;
using softnpu::executors;
using softnpu::LaunchTemplate;
using softnpu::name_of;
using softnpu::Planned;
using softnpu::Repeatable;
using softnpu::shared_mutex;
using softnpu::Status;
using softnpu::text;

namespace {

// Makes the executor repeatable: moves its plan into a shared Repeatable. `planned` is claimed.
Status make_repeatable(Planned* planned) {
  auto repeatable = std::make_shared<Repeatable>();
  if (planned->keep != nullptr) {
    std::unique_ptr<BoundCall> call;
    SOFTNPU_RETURN_IF_ERROR(planned->keep(planned->arguments, &call));
    repeatable->addresses.assign(call->operands().begin(), call->operands().end());
    repeatable->call = std::move(call);
  }
  repeatable->launched =
      planned->shared != nullptr ? planned->shared : std::make_shared<const LaunchTemplate>(std::move(planned->own));
  planned->repeatable = std::move(repeatable);
  return Status::ok();
}

Status set_repeatable(aclOpExecutor* executor) {
  std::lock_guard lock(shared_mutex());
  Planned* planned = executors().claim(name_of(executor));
  if (planned == nullptr) {
    const bool is_already = executors().find_shared(name_of(executor)) != nullptr;
    return is_already ? Status::ok() : softnpu::unknown_executor(executor);
  }
  Status status = Status::ok();
  try {
    status = make_repeatable(planned);
  } catch (...) {
    executors().give_back(planned);
    throw;
  }
  if (status.is_ok()) {
    executors().share(planned);
  } else {
    executors().give_back(planned);
  }
  return status;
}

Status destroy(aclOpExecutor* executor) {
  if (executor == nullptr) return Status::ok();
  Planned* planned = executors().claim(name_of(executor));
  if (planned == nullptr) {
    std::lock_guard lock(shared_mutex());
    planned = executors().claim_shared(name_of(executor));
  }
  if (planned == nullptr) return softnpu::unknown_executor(executor);
  executors().recycle(planned);
  return Status::ok();
}

// Finds the number of `tensor` among the call's. If the caller passed one tensor for several arguments, `index`
// decides.
Status find_tensor(const BoundCall& call, size_t index, const aclTensor* tensor, size_t* out) {
  const auto tensors = call.tensors();
  const auto matches = static_cast<size_t>(std::ranges::count(tensors, tensor, &BoundTensor::given));
  if (matches == 0) {
    return {ACLNN_ERR_PARAM_INVALID, text("tensor ", static_cast<const void*>(tensor),
                                          " is not among the arguments of the executor's first phase")};
  }
  if (matches == 1) {
    *out = static_cast<size_t>(std::ranges::find(tensors, tensor, &BoundTensor::given) - tensors.begin());
    return Status::ok();
  }
  if (index >= tensors.size() || tensors[index].given != tensor) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("tensor ", static_cast<const void*>(tensor), " is ", matches, " of the arguments, and number ", index,
                 " of the ", tensors.size(), " tensors is not one of them")};
  }
  *out = index;
  return Status::ok();
}

Status find_element(const BoundCall& call, size_t index, const aclTensorList* list, size_t* out) {
  SOFTNPU_RETURN_IF_ERROR(check_object(softnpu::pool_of<aclTensorList>(), list, "aclTensorList"));
  if (index >= list->size() || (*list)[index] == nullptr) {
    return {ACLNN_ERR_PARAM_INVALID, text("the list of ", list->size(), " tensors has no tensor at index ", index)};
  }
  const auto tensors = call.tensors();
  const auto found = std::ranges::find_if(
      tensors, [&](const BoundTensor& bound) { return bound.list == list && bound.given == (*list)[index]; });
  if (found == tensors.end()) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("list ", static_cast<const void*>(list), " is not among the arguments of the executor's first phase")};
  }
  *out = static_cast<size_t>(found - tensors.begin());
  return Status::ok();
}

// Replaces the address of the tensor whose number among the call's `find` finds.
template <typename Find>
aclnnStatus set_address(const char* function, const aclOpExecutor* executor, void* address, Find&& find) {
  return api(function, [&]() -> Status {
    const char* op = nullptr;
    const std::shared_ptr<Repeatable> repeatable = softnpu::find_repeatable(executor, &op);
    if (repeatable == nullptr) {
      if (executor == nullptr) return softnpu::unknown_executor(executor);
      return {ACLNN_ERR_PARAM_INVALID, text("executor ", static_cast<const void*>(executor),
                                            " is not repeatable: call aclSetAclOpExecutorRepeatable first")};
    }
    std::lock_guard lock(repeatable->mutex);
    if (repeatable->call == nullptr) {
      return {ACLNN_ERR_PARAM_INVALID, text(op, " cannot run with other addresses: call its first phase again")};
    }
    size_t i = 0;
    SOFTNPU_RETURN_IF_ERROR(find(*repeatable->call, &i));
    repeatable->addresses[i] = address;
    repeatable->is_stale = true;
    return Status::ok();
  });
}

aclnnStatus set_tensor(const char* function, aclOpExecutor* executor, size_t index, aclTensor* tensor, void* address) {
  return set_address(function, executor, address, [&](const BoundCall& call, size_t* out) -> Status {
    SOFTNPU_RETURN_IF_ERROR(check_object(softnpu::tensors(), tensor, "aclTensor"));
    return find_tensor(call, index, tensor, out);
  });
}

aclnnStatus set_element(const char* function, aclOpExecutor* executor, size_t index, aclTensorList* list,
                        void* address) {
  return set_address(function, executor, address,
                     [&](const BoundCall& call, size_t* out) { return find_element(call, index, list, out); });
}

}  // namespace

std::mutex& softnpu::shared_mutex() {
  static NoDestroy<std::mutex> instance;
  return instance.get();
}

std::shared_ptr<Repeatable> softnpu::find_repeatable(const aclOpExecutor* handle, const char** op) {
  std::lock_guard lock(shared_mutex());
  const Planned* planned = executors().find_shared(name_of(handle));
  if (planned == nullptr) return nullptr;
  *op = planned->own.op;
  return planned->repeatable;
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  return api("aclSetAclOpExecutorRepeatable", [&] { return set_repeatable(executor); });
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  return api("aclDestroyAclOpExecutor", [&] { return destroy(executor); });
}

aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, size_t index, aclTensor* tensor, void* addr) {
  return set_tensor("aclSetTensorAddr", executor, index, tensor, addr);
}

aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t, size_t elementIndex, aclTensorList* tensors,
                                    void* addr) {
  return set_element("aclSetDynamicTensorAddr", executor, elementIndex, tensors, addr);
}
