// Executors that are launched repeatedly, and the replacement of their addresses between launches.

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "aclnn/acl_meta.h"
#include "base/border.h"
#include "base/no_destroy.h"
#include "base/text.h"
#include "nnopbase/objects.h"
#include "nnopbase/planned.h"

using softnpu::api;
using softnpu::BoundTensor;
using softnpu::check_object;
using softnpu::executors;
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
  if (planned->keep != nullptr) SOFTNPU_RETURN_IF_ERROR(planned->keep(planned->arguments, &repeatable->call));
  repeatable->plan = std::make_shared<const softnpu::Plan>(std::move(planned->plan));
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

// Finds the copy of `tensor`. If the caller passed one tensor for several arguments, `index` decides.
Status find_copy(const Repeatable& repeatable, size_t index, const aclTensor* tensor, BoundTensor* out) {
  std::vector<BoundTensor> matches;
  const BoundTensor* at_index = nullptr;
  size_t count = 0;
  for (const BoundTensor& bound : repeatable.call->tensors) {
    if (count++ == index) at_index = &bound;
    if (bound.given == tensor) matches.push_back(bound);
  }
  if (matches.empty()) {
    return {ACLNN_ERR_PARAM_INVALID, text("tensor ", static_cast<const void*>(tensor),
                                          " is not among the arguments of the executor's first phase")};
  }
  if (matches.size() == 1) {
    *out = matches.front();
    return Status::ok();
  }
  if (at_index == nullptr || at_index->given != tensor) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("tensor ", static_cast<const void*>(tensor), " is ", matches.size(), " of the arguments, and number ",
                 index, " of the ", count, " tensors is not one of them")};
  }
  *out = *at_index;
  return Status::ok();
}

Status find_element(const Repeatable& repeatable, size_t index, const aclTensorList* list, BoundTensor* out) {
  SOFTNPU_RETURN_IF_ERROR(check_object(softnpu::pool_of<aclTensorList>(), list, "aclTensorList"));
  if (index >= list->size() || (*list)[index] == nullptr) {
    return {ACLNN_ERR_PARAM_INVALID, text("the list of ", list->size(), " tensors has no tensor at index ", index)};
  }
  for (const BoundTensor& bound : repeatable.call->tensors) {
    if (bound.list == list && bound.given == (*list)[index]) {
      *out = bound;
      return Status::ok();
    }
  }
  return {ACLNN_ERR_PARAM_INVALID,
          text("list ", static_cast<const void*>(list), " is not among the arguments of the executor's first phase")};
}

// Replaces the address of the tensor found by `find`.
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
    BoundTensor bound;
    SOFTNPU_RETURN_IF_ERROR(find(*repeatable, &bound));
    bound.copy->data = address;
    repeatable->is_stale = true;
    return Status::ok();
  });
}

aclnnStatus set_tensor(const char* function, aclOpExecutor* executor, size_t index, aclTensor* tensor, void* address) {
  return set_address(function, executor, address, [&](const Repeatable& repeatable, BoundTensor* out) -> Status {
    SOFTNPU_RETURN_IF_ERROR(check_object(softnpu::tensors(), tensor, "aclTensor"));
    return find_copy(repeatable, index, tensor, out);
  });
}

aclnnStatus set_element(const char* function, aclOpExecutor* executor, size_t index, aclTensorList* list,
                        void* address) {
  return set_address(function, executor, address, [&](const Repeatable& repeatable, BoundTensor* out) {
    return find_element(repeatable, index, list, out);
  });
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
  *op = planned->op;
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
