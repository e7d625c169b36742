#include "aclnnop/aclnn_bernoulli.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "nnopbase/plan_operator.h"
#include "nnopbase/scalar.h"
#include "nnopbase/tensor.h"
#include "ops/onednn/engine.h"
#include "ops/random/bernoulli.h"
#include "ops/tensor_memory.h"

using softnpu::Bernoulli;
using softnpu::not_null;
using softnpu::Plan;
using softnpu::Status;
using softnpu::text;

namespace {

// About what one number costs, in the operations that softnpu::threads_for counts.
constexpr double kFlopsPerNumber = 32;

struct Draw {
  Bernoulli numbers;
  void* data = nullptr;  // where the host's kernels may write it
  int64_t count = 0;
  int threads = 1;
};

// Each number depends on its place only, so the result is the same for every number of threads.
template <typename T>
void fill(const Draw& draw) {
  constexpr int64_t kAtATime = 1 << 14;
  auto* out = static_cast<T*>(draw.data);
  // A parallel region of one thread costs about a microsecond, too.
  if (draw.threads == 1) return draw.numbers.fill(0, static_cast<uint64_t>(draw.count), out);
#pragma omp parallel for num_threads(draw.threads) schedule(static)
  for (int64_t first = 0; first < draw.count; first += kAtATime) {
    const auto here = static_cast<uint64_t>(std::min(kAtATime, draw.count - first));
    draw.numbers.fill(static_cast<uint64_t>(first) / softnpu::kNumbersPerBlock, here, out + first);
  }
}

Status read(const aclTensor* self, const aclScalar* prob, Draw* draw) {
  SOFTNPU_RETURN_IF_ERROR(not_null(self, "selfRef"));
  SOFTNPU_RETURN_IF_ERROR(not_null(prob, "prob"));
  if (self->dtype != ACL_FLOAT && self->dtype != ACL_BOOL && self->dtype != ACL_UINT8) {
    return {ACLNN_ERR_PARAM_INVALID, text("selfRef has data type ", static_cast<int>(self->dtype),
                                          "; float32 (0), uint8 (4), bool (12) are taken")};
  }
  if (!softnpu::is_dense(*self)) return {ACLNN_ERR_PARAM_INVALID, "selfRef has gaps or overlaps between its elements"};
  if (!(prob->as_double() >= 0 && prob->as_double() <= 1)) {
    return {ACLNN_ERR_PARAM_INVALID, text("prob is ", prob->as_double(), ", not between 0 and 1")};
  }
  draw->numbers.below = static_cast<uint64_t>(std::ceil(std::ldexp(prob->as_double(), 32)));
  draw->count = softnpu::element_count(*self);
  return softnpu::tensor_memory(*self, "selfRef", &draw->data);
}

constexpr auto plan_bernoulli = [](aclTensor* self, const aclScalar* prob, int64_t seed, int64_t offset,
                                   Plan* plan) -> Status {
  Draw draw;
  SOFTNPU_RETURN_IF_ERROR(read(self, prob, &draw));
  draw.numbers.sequence = {.seed = static_cast<uint64_t>(seed), .offset = static_cast<uint64_t>(offset)};
  const double cost = kFlopsPerNumber * static_cast<double>(draw.count);
  draw.threads = softnpu::threads_for(cost);
  plan->is_small = cost < softnpu::kSmallFlops;
  plan->run = [draw, is_float = self->dtype == ACL_FLOAT](void*) {
    if (is_float) {
      fill<float>(draw);
    } else {
      fill<uint8_t>(draw);
    }
    return Status::ok();
  };
  plan->describe = [count = draw.count] { return text("(", count, " elements)"); };
  return Status::ok();
};

}  // namespace

// The C function's tensor is const, and written all the same.
aclnnStatus aclnnInplaceBernoulliGetWorkspaceSize(const aclTensor* selfRef, const aclScalar* prob, int64_t seed,
                                                  int64_t offset, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return softnpu::plan_operator("aclnnInplaceBernoulli", workspaceSize, executor, plan_bernoulli,
                                const_cast<aclTensor*>(selfRef), prob, seed, offset);
}

aclnnStatus aclnnInplaceBernoulli(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                  aclrtStream stream) {
  return softnpu::launch_operator("aclnnInplaceBernoulli", workspace, workspaceSize, executor, stream);
}
