#include "nnopbase/missing_memory.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/round.h"
#include "nnopbase/bound_call.h"
#include "nnopbase/planned.h"

namespace softnpu {
namespace {

// Beyond the addresses that processes have on x86-64 and AArch64.
constexpr uintptr_t kFirst = uintptr_t{1} << 62;
constexpr int64_t kRoom = int64_t{1} << 61;
constexpr int64_t kAlignment = 512;

thread_local constinit bool plans_without_memory = false;

struct PlanningScope {
  bool previous = std::exchange(plans_without_memory, true);
  ~PlanningScope() { plans_without_memory = previous; }
};

// Bytes from the storage's start to the end of the view or of the storage, whichever is later.
Checked storage_bytes(const aclTensor& tensor) {
  Checked storage = 1;
  for (const int64_t size : tensor.storage_dims) storage = storage * size;
  Checked view = checked(tensor.offset) + 1;
  for (size_t i = 0; i < tensor.dims.size(); ++i) view = view + checked(tensor.dims[i] - 1) * tensor.strides[i];
  constexpr int64_t kMaxElementBytes = 16;
  return (storage + view) * kMaxElementBytes;
}

// The call's addresses, with one of its own in place of each that is missing.
Status fill(const BoundCall& call, std::vector<void*>* addresses) {
  addresses->assign(call.operands().begin(), call.operands().end());
  Checked next = 0;
  for (size_t i = 0; i < addresses->size(); ++i) {
    const aclTensor& tensor = *call.tensors()[i].copy;
    if (!lacks_memory(&tensor)) continue;
    (*addresses)[i] = reinterpret_cast<void*>(kFirst + static_cast<uintptr_t>(next.value()));
    next = round_up(next + storage_bytes(tensor), kAlignment);
    if (!next.fits() || next.value() > kRoom) {
      return {ACLNN_ERR_PARAM_INVALID, "the tensors without an address have more elements than any memory"};
    }
  }
  return Status::ok();
}

}  // namespace

bool is_stand_in(const void* address) { return plans_without_memory && reinterpret_cast<uintptr_t>(address) >= kFirst; }

Status plan_without_memory(const char* op, PendingPlan::Keep keep, const void* arguments,
                           void (*location)(void* storage, const void* arguments), uint64_t* workspace_size,
                           aclOpExecutor** executor) {
  std::unique_ptr<BoundCall> call;
  SOFTNPU_RETURN_IF_ERROR(keep(arguments, &call));
  std::vector<void*> addresses;
  SOFTNPU_RETURN_IF_ERROR(fill(*call, &addresses));
  PendingPlan pending(op);
  {
    const PlanningScope scope;
    SOFTNPU_RETURN_IF_ERROR(call->rebind(addresses, pending.plan()));
  }
  // The caller asks its own tensors for sizes that an operator decides.
  for (const BoundTensor& tensor : call->tensors()) {
    if (tensor.copy->shape != nullptr) const_cast<aclTensor*>(tensor.given)->shape = tensor.copy->shape;
  }
  location(pending.arguments(keep), arguments);
  SOFTNPU_RETURN_IF_ERROR(pending.hand_out(workspace_size, executor));
  Planned* planned = executors().claim(name_of(*executor));
  planned->own.lacks_memory = true;
  executors().give_back(planned);
  return Status::ok();
}

}  // namespace softnpu
