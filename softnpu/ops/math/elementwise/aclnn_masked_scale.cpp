#include "aclnnop/aclnn_masked_scale.h"

#include <algorithm>

#include "base/text.h"
#include "nnopbase/plan_operator.h"
#include "nnopbase/tensor.h"
#include "ops/core/tensor_memory.h"
#include "ops/math/elementwise/masked_scale.h"
#include "workers/parallel.h"

using softnpu::not_null;
using softnpu::Plan;
using softnpu::Status;
using softnpu::tensor_memory;
using softnpu::text;

namespace {

// The cost of one element in the operations of threads_for: memory dominates.
constexpr double kFlopsPerElement = 16;

struct MaskedScale {
  void* self = nullptr;
  void* mask = nullptr;
  void* y = nullptr;
  float scale = 1;
  int64_t count = 0;
  int threads = 1;
};

template <typename Mask>
void run_part(const MaskedScale& task, int64_t first, int64_t count) {
  softnpu::masked_scale(static_cast<const float*>(task.self) + first, static_cast<const Mask*>(task.mask) + first,
                        task.scale, static_cast<size_t>(count), static_cast<float*>(task.y) + first);
}

template <typename Mask>
void run(const MaskedScale& task) {
  constexpr int64_t kAtATime = 1 << 14;
  softnpu::parallel_for(task.count, kAtATime, task.threads,
                        [&](int64_t first, int64_t last) { run_part<Mask>(task, first, last - first); });
}

bool same_layout(const aclTensor& a, const aclTensor& b) { return a.dims == b.dims && a.strides == b.strides; }

Status read(const aclTensor* self, const aclTensor* mask, double scale, const aclTensor* y, MaskedScale* task) {
  SOFTNPU_RETURN_IF_ERROR(not_null(self, "self"));
  SOFTNPU_RETURN_IF_ERROR(not_null(mask, "mask"));
  SOFTNPU_RETURN_IF_ERROR(not_null(y, "y"));
  if (self->dtype != ACL_FLOAT || y->dtype != ACL_FLOAT) {
    return {ACLNN_ERR_PARAM_INVALID, text("self has data type ", static_cast<int>(self->dtype), " and y ",
                                          static_cast<int>(y->dtype), "; float32 (0) is taken")};
  }
  if (mask->dtype != ACL_FLOAT && mask->dtype != ACL_BOOL && mask->dtype != ACL_UINT8) {
    return {ACLNN_ERR_PARAM_INVALID, text("mask has data type ", static_cast<int>(mask->dtype),
                                          "; float32 (0), uint8 (4), bool (12) are taken")};
  }
  if (!same_layout(*self, *mask) || !same_layout(*self, *y)) {
    return {ACLNN_ERR_PARAM_INVALID, "self, mask and y differ in their sizes or strides"};
  }
  if (!softnpu::is_dense(*self)) {
    return {ACLNN_ERR_PARAM_INVALID, "the tensors have gaps or overlaps between their elements"};
  }
  task->scale = static_cast<float>(scale);
  task->count = softnpu::element_count(*self);
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(*self, "self", &task->self));
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(*mask, "mask", &task->mask));
  return tensor_memory(*y, "y", &task->y);
}

Status plan_masked_scale(const aclTensor* self, const aclTensor* mask, double scale, aclTensor* y, Plan* plan) {
  MaskedScale task;
  SOFTNPU_RETURN_IF_ERROR(read(self, mask, scale, y, &task));
  const double cost = kFlopsPerElement * static_cast<double>(task.count);
  task.threads = softnpu::threads_for(cost);
  plan->work = cost;
  plan->run = [task, is_float = mask->dtype == ACL_FLOAT](void*) {
    if (is_float) {
      run<float>(task);
    } else {
      run<uint8_t>(task);
    }
    return Status::ok();
  };
  plan->describe = [count = task.count] { return text("(float32, ", count, " elements)"); };
  return Status::ok();
}

}  // namespace

aclnnStatus aclnnMaskedScaleGetWorkspaceSize(const aclTensor* self, const aclTensor* mask, double scale, aclTensor* y,
                                             uint64_t* workspaceSize, aclOpExecutor** executor) {
  return softnpu::plan_operator("aclnnMaskedScale", workspaceSize, executor, plan_masked_scale, self, mask, scale, y);
}

aclnnStatus aclnnMaskedScale(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  return softnpu::launch_operator("aclnnMaskedScale", workspace, workspaceSize, executor, stream);
}
