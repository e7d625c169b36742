// aclnnMm, aclnnMatmul, aclnnBatchMatMul, aclnnAddmm, aclnnBaddbmm: one product behind five names.

#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_addmm.h"
#include "aclnnop/aclnn_baddbmm.h"
#include "aclnnop/aclnn_batch_matmul.h"
#include "aclnnop/aclnn_mm.h"
#include "base/text.h"
#include "nnopbase/plan_operator.h"
#include "ops/matmul/matmul.h"

using softnpu::launch_operator;
using softnpu::MatmulProblem;
using softnpu::not_null;
using softnpu::Plan;
using softnpu::plan_operator;
using softnpu::Status;

namespace {

// Keep the dtype, allow less precision, float16, HF32, add in float32. The values but the first allow less than
// float32; the products here are float32 all the same.
constexpr int kLastCubeMathType = 4;

struct Addend {
  const aclTensor* self = nullptr;
  const aclScalar* beta = nullptr;
  const aclScalar* alpha = nullptr;
};

Status read_addend(const Addend& addend, MatmulProblem* problem) {
  SOFTNPU_RETURN_IF_ERROR(not_null(addend.beta, "beta"));
  SOFTNPU_RETURN_IF_ERROR(not_null(addend.alpha, "alpha"));
  problem->alpha = static_cast<float>(addend.alpha->as_double());
  problem->beta = static_cast<float>(addend.beta->as_double());
  return read_matrices(addend.self, "self", &problem->addend);
}

Status plan(const Addend* addend, const aclTensor* a, const aclTensor* b, aclTensor* out, int8_t cube_math_type,
            Plan* made) {
  if (cube_math_type < 0 || cube_math_type > kLastCubeMathType) {
    return {ACLNN_ERR_PARAM_INVALID, softnpu::text("cubeMathType ", static_cast<int>(cube_math_type),
                                                   " does not exist: it is 0 to ", kLastCubeMathType)};
  }
  MatmulProblem problem;
  SOFTNPU_RETURN_IF_ERROR(read_matrices(a, "the first matrix", &problem.a));
  SOFTNPU_RETURN_IF_ERROR(read_matrices(b, "the second matrix", &problem.b));
  SOFTNPU_RETURN_IF_ERROR(read_matrices(out, "out", &problem.c));
  if (addend != nullptr) SOFTNPU_RETURN_IF_ERROR(read_addend(*addend, &problem));
  SOFTNPU_RETURN_IF_ERROR(check_matmul(&problem));
  *made = plan_matmul(problem);
  return Status::ok();
}

constexpr auto plan_product = [](const aclTensor* a, const aclTensor* b, aclTensor* out, int8_t cube_math_type,
                                 Plan* made) { return plan(nullptr, a, b, out, cube_math_type, made); };

constexpr auto plan_sum = [](const aclTensor* self, const aclTensor* a, const aclTensor* b, const aclScalar* beta,
                             const aclScalar* alpha, aclTensor* out, int8_t cube_math_type, Plan* made) {
  const Addend addend{self, beta, alpha};
  return plan(&addend, a, b, out, cube_math_type, made);
};

}  // namespace

aclnnStatus aclnnMmGetWorkspaceSize(const aclTensor* self, const aclTensor* mat2, aclTensor* out, int8_t cubeMathType,
                                    uint64_t* workspaceSize, aclOpExecutor** executor) {
  return plan_operator("aclnnMm", workspaceSize, executor, plan_product, self, mat2, out, cubeMathType);
}
aclnnStatus aclnnMm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  return launch_operator("aclnnMm", workspace, workspaceSize, executor, stream);
}

aclnnStatus aclnnMatmulGetWorkspaceSize(const aclTensor* self, const aclTensor* mat2, aclTensor* out,
                                        int8_t cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return plan_operator("aclnnMatmul", workspaceSize, executor, plan_product, self, mat2, out, cubeMathType);
}
aclnnStatus aclnnMatmul(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  return launch_operator("aclnnMatmul", workspace, workspaceSize, executor, stream);
}

aclnnStatus aclnnBatchMatMulGetWorkspaceSize(const aclTensor* self, const aclTensor* mat2, aclTensor* out,
                                             int8_t cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return plan_operator("aclnnBatchMatMul", workspaceSize, executor, plan_product, self, mat2, out, cubeMathType);
}
aclnnStatus aclnnBatchMatMul(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  return launch_operator("aclnnBatchMatMul", workspace, workspaceSize, executor, stream);
}

aclnnStatus aclnnAddmmGetWorkspaceSize(const aclTensor* self, const aclTensor* mat1, const aclTensor* mat2,
                                       const aclScalar* beta, const aclScalar* alpha, aclTensor* out,
                                       int8_t cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return plan_operator("aclnnAddmm", workspaceSize, executor, plan_sum, self, mat1, mat2, beta, alpha, out,
                       cubeMathType);
}
aclnnStatus aclnnAddmm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  return launch_operator("aclnnAddmm", workspace, workspaceSize, executor, stream);
}

aclnnStatus aclnnBaddbmmGetWorkspaceSize(const aclTensor* self, const aclTensor* batch1, const aclTensor* batch2,
                                         const aclScalar* beta, const aclScalar* alpha, aclTensor* out,
                                         int8_t cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return plan_operator("aclnnBaddbmm", workspaceSize, executor, plan_sum, self, batch1, batch2, beta, alpha, out,
                       cubeMathType);
}
aclnnStatus aclnnBaddbmm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  return launch_operator("aclnnBaddbmm", workspace, workspaceSize, executor, stream);
}
