// aclnnMm, aclnnMatmul, aclnnBatchMatMul, aclnnAddmm, aclnnBaddbmm: one product behind five names.

#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_addmm.h"
#include "aclnnop/aclnn_baddbmm.h"
#include "aclnnop/aclnn_batch_matmul.h"
#include "aclnnop/aclnn_mm.h"
#include "base/border.h"
#include "base/text.h"
#include "nnopbase/scalar.h"
#include "ops/matmul/matmul.h"

using softnpu::api;
using softnpu::launch_executor;
using softnpu::MatmulProblem;
using softnpu::not_null;
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

aclnnStatus plan(const char* op, const Addend* addend, const aclTensor* a, const aclTensor* b, aclTensor* out,
                 int8_t cube_math_type, uint64_t* workspace_size, aclOpExecutor** executor) {
  return api(op, [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(not_null(workspace_size, "workspaceSize"));
    SOFTNPU_RETURN_IF_ERROR(not_null(executor, "executor"));
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
    return make_executor(op, plan_matmul(problem), workspace_size, executor);
  });
}

aclnnStatus launch(const char* op, void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream) {
  return api(op, [&] { return launch_executor(op, workspace, size, executor, stream); });
}

}  // namespace

aclnnStatus aclnnMmGetWorkspaceSize(const aclTensor* self, const aclTensor* mat2, aclTensor* out, int8_t cubeMathType,
                                    uint64_t* workspaceSize, aclOpExecutor** executor) {
  return plan("aclnnMm", nullptr, self, mat2, out, cubeMathType, workspaceSize, executor);
}
aclnnStatus aclnnMm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  return launch("aclnnMm", workspace, workspaceSize, executor, stream);
}

aclnnStatus aclnnMatmulGetWorkspaceSize(const aclTensor* self, const aclTensor* mat2, aclTensor* out,
                                        int8_t cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return plan("aclnnMatmul", nullptr, self, mat2, out, cubeMathType, workspaceSize, executor);
}
aclnnStatus aclnnMatmul(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  return launch("aclnnMatmul", workspace, workspaceSize, executor, stream);
}

aclnnStatus aclnnBatchMatMulGetWorkspaceSize(const aclTensor* self, const aclTensor* mat2, aclTensor* out,
                                             int8_t cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor) {
  return plan("aclnnBatchMatMul", nullptr, self, mat2, out, cubeMathType, workspaceSize, executor);
}
aclnnStatus aclnnBatchMatMul(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  return launch("aclnnBatchMatMul", workspace, workspaceSize, executor, stream);
}

aclnnStatus aclnnAddmmGetWorkspaceSize(const aclTensor* self, const aclTensor* mat1, const aclTensor* mat2,
                                       const aclScalar* beta, const aclScalar* alpha, aclTensor* out,
                                       int8_t cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor) {
  Addend addend{self, beta, alpha};
  return plan("aclnnAddmm", &addend, mat1, mat2, out, cubeMathType, workspaceSize, executor);
}
aclnnStatus aclnnAddmm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  return launch("aclnnAddmm", workspace, workspaceSize, executor, stream);
}

aclnnStatus aclnnBaddbmmGetWorkspaceSize(const aclTensor* self, const aclTensor* batch1, const aclTensor* batch2,
                                         const aclScalar* beta, const aclScalar* alpha, aclTensor* out,
                                         int8_t cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor) {
  Addend addend{self, beta, alpha};
  return plan("aclnnBaddbmm", &addend, batch1, batch2, out, cubeMathType, workspaceSize, executor);
}
aclnnStatus aclnnBaddbmm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) {
  return launch("aclnnBaddbmm", workspace, workspaceSize, executor, stream);
}
