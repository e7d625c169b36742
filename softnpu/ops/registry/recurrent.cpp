// Recurrent layers called by the name of their type: what they compute stands in ops/nn/recurrent.

#include <initializer_list>

#include "ops/nn/recurrent/gru.h"
#include "ops/nn/recurrent/lstm.h"
#include "ops/registry/infer.h"
#include "ops/registry/invalid_call.h"
#include "ops/registry/registry.h"

namespace softnpu {
namespace {

// The sizes of a layer: x is [steps, batch, inputs]; `weight` has `gates` columns for each value of the state.
Status read_layer(const aclTensor& x, const aclTensor& weight, int64_t gates, RecurrentSizes* out) {
  if (x.dims.size() != 3 || weight.dims.size() != 2 || weight.dims[1] % gates != 0) {
    return invalid_call("x is [steps, batch, inputs], and the weights are rows of all gates");
  }
  *out = {x.dims[0], x.dims[1], x.dims[2], weight.dims[1] / gates};
  return Status::ok();
}

// All outputs are [steps, batch, hidden].
Status states(const aclTensor& weight, int64_t gates, size_t count, Operands& of) {
  RecurrentSizes sizes;
  SOFTNPU_RETURN_IF_ERROR(read_layer(of.in(0), weight, gates, &sizes));
  for (size_t i = 0; i < count; ++i) {
    SOFTNPU_RETURN_IF_ERROR(sized(ints({sizes.steps, sizes.batch, sizes.hidden}), of.in(0).dtype, of.out(i)));
  }
  return Status::ok();
}

Status gru_states(Operands& of) { return states(of.in(2), kGruGates, 6, of); }
Status lstm_states(size_t weights, Operands& of) { return states(of.in(weights), kLstmGates, 8, of); }

Status gru_gradients(Operands& of) {
  const aclTensor& w_x = of.in(1);
  const aclTensor& w_h = of.in(2);
  SOFTNPU_RETURN_IF_ERROR(all_like({&w_x, &w_h}, {&of.out(0), &of.out(1)}));
  for (size_t i = 2; i < 4; ++i) SOFTNPU_RETURN_IF_ERROR(sized(ints({last_size(w_x)}), w_x.dtype, of.out(i)));
  return all_like({&of.in(0), &of.in(4)}, {&of.out(4), &of.out(5)});
}

// (x, `weights` parts of the weights, [b], y, init_h, init_c, ..)
Status lstm_gradients(size_t weights, Operands& of) {
  for (size_t i = 0; i < weights; ++i) SOFTNPU_RETURN_IF_ERROR(like(of.in(1 + i), of.out(i)));
  SOFTNPU_RETURN_IF_ERROR(sized(ints({last_size(of.in(1))}), of.in(1).dtype, of.out(weights)));
  return all_like({&of.in(0), &of.in(4), &of.in(5)},
                  {&of.out(weights + 1), &of.out(weights + 2), &of.out(weights + 3)});
}

LayerAttributes common_attributes(Operands& of) {
  LayerAttributes attributes;
  attributes.direction = of.words("direction");
  attributes.activation = of.words("activation");
  attributes.gate_order = of.words("gate_order");
  attributes.time_major = of.flag("time_major");
  return attributes;
}

using Compiled = std::unique_ptr<const CompiledOperator>;
using CompileLayer = Status (*)(const RegistryCall& call, const LayerAttributes& attributes, Compiled* out);

Status compile_gru_with(CompileLayer compile, Operands& of, const RegistryCall& call, Compiled* out) {
  LayerAttributes attributes = common_attributes(of);
  attributes.reset_after = of.flag("reset_after");
  SOFTNPU_RETURN_IF_ERROR(of.peek());
  return compile(call, attributes, out);
}

Status compile_lstm_with(CompileLayer compile, Operands& of, const RegistryCall& call, Compiled* out) {
  LayerAttributes attributes = common_attributes(of);
  attributes.use_peephole = of.flag("use_peephole");
  attributes.cell_clip = of.real("cell_clip");
  attributes.num_proj = of.integer("num_proj");
  attributes.forget_bias = of.real("forget_bias");
  SOFTNPU_RETURN_IF_ERROR(of.peek());
  return compile(call, attributes, out);
}

Status gru(Operands& of, const RegistryCall& call, Compiled* out) {
  return compile_gru_with(compile_gru, of, call, out);
}
Status gru_grad(Operands& of, const RegistryCall& call, Compiled* out) {
  return compile_gru_with(compile_gru_grad, of, call, out);
}
Status lstm(Operands& of, const RegistryCall& call, Compiled* out) {
  return compile_lstm_with(compile_lstm, of, call, out);
}
Status lstm_v2(Operands& of, const RegistryCall& call, Compiled* out) {
  return compile_lstm_with(compile_lstm_v2, of, call, out);
}
Status lstm_grad(Operands& of, const RegistryCall& call, Compiled* out) {
  return compile_lstm_with(compile_lstm_grad, of, call, out);
}
Status lstm_v2_grad(Operands& of, const RegistryCall& call, Compiled* out) {
  return compile_lstm_with(compile_lstm_v2_grad, of, call, out);
}

}  // namespace
}  // namespace softnpu

#include "opgen/rows_recurrent.inc"
