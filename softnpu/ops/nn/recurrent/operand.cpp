#include "ops/nn/recurrent/operand.h"

#include "ops/core/describe.h"

namespace softnpu {

Status read_sizes(const RegistryCall& call, size_t x, size_t weights, int64_t gates, RecurrentSizes* out) {
  SOFTNPU_RETURN_IF_ERROR(check_given(call.inputs[x], "x"));
  SOFTNPU_RETURN_IF_ERROR(check_given(call.inputs[weights], "the weights"));
  const aclTensor& input = call.inputs[x].tensor;
  const aclTensor& weight = call.inputs[weights].tensor;
  if (input.dims.size() != 3) {
    return {ACL_ERROR_INVALID_PARAM, text("x is ", describe(input), ", where [steps, batch, inputs] are needed")};
  }
  if (weight.dims.size() != 2 || weight.dims[1] % gates != 0) {
    return {ACL_ERROR_INVALID_PARAM,
            text("the weights are ", describe(weight), ", where rows of ", gates, " gates are needed")};
  }
  *out = {input.dims[0], input.dims[1], input.dims[2], weight.dims[1] / gates};
  return Status::ok();
}

Status read_direction(const LayerAttributes& of, bool* reversed) {
  *reversed = of.direction == "REDIRECTIONAL";
  if (!*reversed && of.direction != "UNIDIRECTIONAL") {
    return {ACL_ERROR_INVALID_PARAM, text("the direction ", of.direction, ": it is UNIDIRECTIONAL or REDIRECTIONAL")};
  }
  const bool is_plain = !of.use_peephole && of.cell_clip <= 0 && of.num_proj == 0;
  if (of.activation == "tanh" && of.time_major && is_plain) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM,
          "only layers with tanh and the steps first, without peepholes, clipping and projections, are taken"};
}

}  // namespace softnpu
