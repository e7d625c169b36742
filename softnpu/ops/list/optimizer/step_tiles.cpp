#include "ops/list/optimizer/step_tiles.h"

#include <algorithm>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/dtype.h"

namespace softnpu {

Status make_step_tiles(std::span<const StepTensor> tensors, Tiles* out, aclDataType* dtype) {
  *dtype = ACL_FLOAT;
  std::array<const aclTensor*, Space::kMaxOperands> order{};
  std::array<Tiles::Use, Space::kMaxOperands> uses{};
  for (size_t i = 0; i < tensors.size(); ++i) {
    const aclTensor& tensor = *tensors[i].tensor;
    if (!is_known(tensor.dtype) || !is_floating(tensor.dtype)) {
      return {ACLNN_ERR_PARAM_INVALID,
              text(tensors[i].role, " is ", describe(tensor), "; floating-point types are taken")};
    }
    if (!std::ranges::equal(tensor.dims, tensors[0].tensor->dims)) {
      return {ACLNN_ERR_PARAM_INVALID, text(tensors[i].role, " is ", describe(tensor), " where ", tensors[0].role,
                                            " is ", describe(*tensors[0].tensor), ": one shape is needed")};
    }
    if (tensor.dtype == ACL_DOUBLE) *dtype = ACL_DOUBLE;
    order[i] = &tensor;
    uses[i].access = tensors[i].access;
  }
  for (Tiles::Use& use : uses) use.as = *dtype;
  Space space;
  SOFTNPU_RETURN_IF_ERROR(Space::make({order.data(), tensors.size()}, 1, &space));
  *out = Tiles(std::move(space), {uses.data(), tensors.size()});
  return Status::ok();
}

}  // namespace softnpu
