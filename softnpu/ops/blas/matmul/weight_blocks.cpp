#include "ops/blas/matmul/weight_blocks.h"

#include <algorithm>
#include <cstring>

#include "aclnnop/aclnn_calculate_matmul_weight_size_v2.h"
#include "base/border.h"
#include "base/text.h"
#include "nnopbase/bound_call.h"
#include "nnopbase/missing_memory.h"
#include "nnopbase/plan.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"
#include "ops/core/iterate/view.h"
#include "softnpu/softnpu.h"
#include "workers/parallel.h"

namespace softnpu {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 56;

int64_t pieces(int64_t size) { return (size + kWeightBlock - 1) / kWeightBlock; }

Status check_matrix(const aclTensor& weight) {
  const bool is_matrix = weight.dims.size() == 2 && is_known(weight.dtype) && is_floating(weight.dtype);
  const bool is_contiguous = is_matrix && (weight.strides[1] == 1 || weight.dims[1] == 1) &&
                             (weight.strides[0] == weight.dims[1] || weight.dims[0] == 1);
  if (is_contiguous && weight.offset == 0 && weight.format == ACL_FORMAT_ND) return Status::ok();
  return {ACLNN_ERR_PARAM_INVALID,
          text("the weight is ", describe(weight), " in the format ", static_cast<int>(weight.format),
               ", where a contiguous floating-point matrix in the format ND is needed")};
}

// Copies the matrix at `from` into blocks.
void pack(const WeightBlocks& m, size_t element, const char* from, char* to, int threads) {
  parallel_for(m.blocks, 1, threads, [&](int64_t first, int64_t last) {
    for (int64_t block = first; block < last; ++block) {
      const int64_t column = block * kWeightBlock;
      const size_t bytes = static_cast<size_t>(std::min(kWeightBlock, m.columns - column)) * element;
      const size_t whole = kWeightBlock * element;
      char* row = to + static_cast<size_t>(block * m.padded_rows) * whole;
      for (int64_t r = 0; r < m.padded_rows; ++r, row += whole) {
        const size_t filled = r < m.rows ? bytes : 0;
        if (filled > 0) std::memcpy(row, from + static_cast<size_t>(r * m.columns + column) * element, filled);
        std::memset(row + filled, 0, whole - filled);
      }
    }
  });
}

}  // namespace

WeightBlocks weight_blocks(int64_t rows, int64_t columns) {
  return {rows, columns, pieces(rows) * kWeightBlock, pieces(columns)};
}

Status WeightBlocks::memory(const aclTensor& tensor, const char* role, char** out) const {
  SOFTNPU_RETURN_IF_ERROR(not_null(tensor.data, role));
  int64_t needed = 0;
  SOFTNPU_RETURN_IF_ERROR(fit(bytes(tensor.dtype), "a matrix in FRACTAL_NZ", &needed));
  void* found = nullptr;
  if (!find_device_memory(tensor.data, static_cast<size_t>(needed), &found)) {
    return {ACLNN_ERR_PARAM_INVALID, text(role, " at ", tensor.data, " does not lie in one allocation of ", needed,
                                          " bytes, which its blocks take (aclnnCalculateMatmulWeightSizeV2)")};
  }
  *out = static_cast<char*>(found);
  return Status::ok();
}

Status trans_matmul_weight(const aclTensor& weight, Plan* plan) {
  SOFTNPU_RETURN_IF_ERROR(check_matrix(weight));
  if (element_count(weight) == 0) return plan_nothing(plan);
  const WeightBlocks blocks = weight_blocks(weight.dims[0], weight.dims[1]);
  char* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(blocks.memory(weight, "the weight", &data));
  const size_t element = aclDataTypeSize(weight.dtype);
  const size_t bytes = static_cast<size_t>(element_count(weight)) * element;
  const Effort effort = effort_of(static_cast<double>(blocks.padded_rows * blocks.blocks * kWeightBlock));
  plan->workspace_bytes = checked(bytes);
  plan->work = effort.work;
  plan->describe = describe_later({&weight});
  plan->run = [=, threads = effort.threads](void* workspace) {
    std::memcpy(workspace, data, bytes);
    pack(blocks, element, static_cast<const char*>(workspace), data, threads);
    return Status::ok();
  };
  return Status::ok();
}

}  // namespace softnpu

using softnpu::not_null;
using softnpu::Status;
using softnpu::text;

aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* tensorShape, aclDataType dataType,
                                             uint64_t* weightTensorSize) {
  return softnpu::api(__func__, [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(not_null(tensorShape, "tensorShape"));
    SOFTNPU_RETURN_IF_ERROR(not_null(weightTensorSize, "weightTensorSize"));
    if (!softnpu::is_live_object(tensorShape)) return {ACLNN_ERR_PARAM_INVALID, "tensorShape was destroyed"};
    const aclIntArray& sizes = *tensorShape;
    const bool is_matrix = sizes.size() == 2 && std::ranges::all_of(sizes, [](int64_t size) {
                             return size >= 0 && size <= softnpu::kMaxSize;
                           });
    if (!is_matrix || !softnpu::is_known(dataType) || !softnpu::is_floating(dataType)) {
      return {ACLNN_ERR_PARAM_INVALID, text("the shape ", softnpu::describe_shape({sizes.begin(), sizes.end()}), " of ",
                                            softnpu::name_of(dataType), " is not that of a floating-point matrix")};
    }
    int64_t bytes = 0;
    SOFTNPU_RETURN_IF_ERROR(
        softnpu::fit(softnpu::weight_blocks(sizes[0], sizes[1]).bytes(dataType), "the weight in FRACTAL_NZ", &bytes));
    *weightTensorSize = static_cast<uint64_t>(bytes);
    return Status::ok();
  });
}
