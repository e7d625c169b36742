#include "ops/nn/recurrent/operand.h"

#include "ops/core/describe.h"

namespace softnpu {

Status read_sizes(const TypedCall& call, size_t x, size_t weights, int64_t gates, RecurrentSizes* out) {
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

Status read_direction(const TypedCall& call, bool* reversed) {
  std::string direction;
  std::string activation;
  bool time_major = true;
  bool peephole = false;
  float clip = 0;
  int64_t projections = 0;
  SOFTNPU_RETURN_IF_ERROR(read_attribute<std::string>(call, "direction", "UNIDIRECTIONAL", &direction));
  SOFTNPU_RETURN_IF_ERROR(read_attribute<std::string>(call, "activation", "tanh", &activation));
  SOFTNPU_RETURN_IF_ERROR(read_attribute(call, "time_major", true, &time_major));
  SOFTNPU_RETURN_IF_ERROR(read_attribute(call, "use_peephole", false, &peephole));
  SOFTNPU_RETURN_IF_ERROR(read_attribute(call, "cell_clip", -1.0F, &clip));
  SOFTNPU_RETURN_IF_ERROR(read_attribute(call, "num_proj", int64_t{0}, &projections));
  *reversed = direction == "REDIRECTIONAL";
  if (!*reversed && direction != "UNIDIRECTIONAL") {
    return {ACL_ERROR_INVALID_PARAM, text("the direction ", direction, ": it is UNIDIRECTIONAL or REDIRECTIONAL")};
  }
  if (activation == "tanh" && time_major && !peephole && clip <= 0 && projections == 0) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM,
          "only layers with tanh and the steps first, without peepholes, clipping and projections, are taken"};
}

}  // namespace softnpu
