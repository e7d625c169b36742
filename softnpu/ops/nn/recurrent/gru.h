#pragma once
// The gated recurrent unit (Cho et al., 2014) as torch.nn.GRU has it, where the reset gate acts behind the product:
//
//   r = sigmoid(..), z = sigmoid(..)   of x @ weights_x + bias_x + h @ weights_h + bias_h
//   n = tanh(x @ weights_x + bias_x + r hidden_new),  hidden_new = h @ weights_h + bias_h
//   h' = (1 - z) n + z h

#include <memory>

#include "ops/nn/recurrent/operand.h"

namespace softnpu {

constexpr int64_t kGruGates = 3;

// The position of each gate among the three in a row of the weights.
struct GruGates {
  int64_t r = 0;
  int64_t z = 0;
  int64_t n = 0;
};

struct GruProblem {
  RecurrentSizes sizes;
  GruGates gates;
  bool reversed = false;  // runs from the last step to the first

  int64_t width() const { return kGruGates * sizes.hidden; }
  // The index of the step that is computed as number `order`.
  int64_t step(int64_t order) const { return reversed ? sizes.steps - 1 - order : order; }
};

// Reads sizes and attributes of a call with x at input 0 and weights at inputs 1 and 2.
Status read_gru(const RegistryCall& call, const LayerAttributes& attributes, GruProblem* out);

// DynamicGRUV2(x, w_x, w_h, b_x?, b_h?, seq_length?, init_h?) to (y, h, z, r, n, hidden_new). x: [steps, batch,
// inputs]; w_x: [inputs, 3 hidden]; w_h: [hidden, 3 hidden]; biases: [3 hidden]; init_h: [batch, hidden]; all others
// [steps, batch, hidden]. All sequences have the length of x.
Status compile_gru(const RegistryCall& call, const LayerAttributes& attributes,
                   std::unique_ptr<const CompiledOperator>* out);

// DynamicGRUV2Grad(x, w_x, w_h, y, init_h, h, dy, dh, z, r, n, hidden_new, seq_length, mask) to (dw_x, dw_h, db_x,
// db_h, dx, dinit_h). dh: the gradient of the state after the last step, [batch, hidden]. The inputs after hidden_new
// are not read: the official plug-in passes one number in each.
Status compile_gru_grad(const RegistryCall& call, const LayerAttributes& attributes,
                        std::unique_ptr<const CompiledOperator>* out);

}  // namespace softnpu
