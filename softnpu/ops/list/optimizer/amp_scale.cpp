#include <cmath>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/tensor_memory.h"
#include "ops/list/optimizer/optimizer.h"

namespace softnpu {
namespace {

template <typename T>
Status one(const aclTensor& tensor, aclDataType dtype, const char* role, T** out) {
  if (tensor.dtype != dtype || element_count(tensor) != 1) {
    return {ACLNN_ERR_PARAM_INVALID,
            text(role, " has to be one ", name_of(dtype), " number, and is ", describe(tensor))};
  }
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
  *out = static_cast<T*>(data);
  return Status::ok();
}

}  // namespace

Status amp_update_scale(const aclTensor& scale, const aclTensor& tracker, const aclTensor& found_inf, double growth,
                        double backoff, int64_t interval, const aclTensor& new_scale, const aclTensor& new_tracker,
                        Plan* plan) {
  const float* from = nullptr;
  const int32_t* steps = nullptr;
  const float* found = nullptr;
  float* to = nullptr;
  int32_t* new_steps = nullptr;
  float* value = nullptr;
  int32_t* count = nullptr;
  SOFTNPU_RETURN_IF_ERROR(one(scale, ACL_FLOAT, "currentScale", &value));
  from = value;
  SOFTNPU_RETURN_IF_ERROR(one(tracker, ACL_INT32, "growthTracker", &count));
  steps = count;
  SOFTNPU_RETURN_IF_ERROR(one(found_inf, ACL_FLOAT, "foundInf", &value));
  found = value;
  SOFTNPU_RETURN_IF_ERROR(one(new_scale, ACL_FLOAT, "updatedScale", &to));
  SOFTNPU_RETURN_IF_ERROR(one(new_tracker, ACL_INT32, "updatedGrowthTracker", &new_steps));
  plan->work = 0;
  plan->run = [=](void*) {
    if (*found != 0) {
      *to = static_cast<float>(*from * backoff);
      *new_steps = 0;
      return Status::ok();
    }
    const int64_t successes = int64_t{*steps} + 1;
    const float before = *from;
    const auto grown = static_cast<float>(before * growth);
    const bool grows = successes == interval;
    *to = grows && std::isfinite(grown) ? grown : before;  // never beyond float32's range
    *new_steps = grows ? 0 : static_cast<int32_t>(successes);
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu
