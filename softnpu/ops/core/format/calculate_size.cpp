// aclnnNpuFormatCastCalculateSizeAndFormat: computes its result immediately, without an executor.

#include <algorithm>
#include <memory>

#include "aclnnop/aclnn_npu_format_cast_calculate_size_and_format.h"
#include "base/border.h"
#include "base/text.h"
#include "nnopbase/bound_call.h"
#include "ops/core/format/operators.h"

using softnpu::not_null;
using softnpu::Status;
using softnpu::text;

namespace {

Status block_for(const aclTensor& src, int dtype, int64_t* out) {
  if (dtype == ACL_DT_UNDEFINED) {
    *out = softnpu::block_of_elements(aclDataTypeSize(src.dtype));
    return Status::ok();
  }
  const size_t size = aclDataTypeSize(static_cast<aclDataType>(dtype));
  if (size == 0) return {ACLNN_ERR_PARAM_INVALID, text("additionalDtype ", dtype, " is not supported")};
  *out = softnpu::block_of_type(size);
  return Status::ok();
}

}  // namespace

aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(const aclTensor* srcTensor, int dstFormat, int additionalDtype,
                                                     int64_t** dstShape, uint64_t* dstShapeSize, int* actualFormat) {
  return softnpu::api(__func__, [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(not_null(srcTensor, "srcTensor"));
    SOFTNPU_RETURN_IF_ERROR(not_null(dstShape, "dstShape"));
    SOFTNPU_RETURN_IF_ERROR(not_null(dstShapeSize, "dstShapeSize"));
    SOFTNPU_RETURN_IF_ERROR(not_null(actualFormat, "actualFormat"));
    if (!softnpu::is_live_object(srcTensor)) return {ACLNN_ERR_PARAM_INVALID, "srcTensor was destroyed"};
    int64_t block = 0;
    softnpu::Dims sizes;
    SOFTNPU_RETURN_IF_ERROR(block_for(*srcTensor, additionalDtype, &block));
    SOFTNPU_RETURN_IF_ERROR(softnpu::sizes_in_format(*srcTensor, static_cast<aclFormat>(dstFormat), block, &sizes));
    auto copy = std::make_unique<int64_t[]>(sizes.size());
    std::ranges::copy(sizes, copy.get());
    *dstShape = copy.release();
    *dstShapeSize = sizes.size();
    *actualFormat = dstFormat;
    return Status::ok();
  });
}
