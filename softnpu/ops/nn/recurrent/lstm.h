#pragma once
// Long short-term memory (Hochreiter and Schmidhuber, 1997) with a forget gate, as torch.nn.LSTM:
//
//   i = sigmoid(..), j = tanh(..), f = sigmoid(..), o = sigmoid(..)   of x @ weights_x + h @ weights_h + bias
//   c' = f c + i j,  h' = o tanh(c')
//
// With a mask m, h' becomes m h' + (1 - m) h, c' likewise, and the output m h': a sequence that has ended keeps its
// state.

#include <array>
#include <memory>

#include "ops/nn/recurrent/operand.h"

namespace softnpu {

constexpr int64_t kLstmGates = 4;

// The position of each gate among the four in a row of the weights.
struct LstmGates {
  int64_t i = 0;
  int64_t j = 0;
  int64_t f = 0;
  int64_t o = 0;
};

struct LstmProblem {
  RecurrentSizes sizes;
  LstmGates gates;
  bool reversed = false;  // runs from the last step to the first
  float forget_bias = 0;

  // The index of the step that is computed as number `order`.
  int64_t step(int64_t order) const { return reversed ? sizes.steps - 1 - order : order; }
};

// Reads sizes and attributes of a call with x at input 0 and weights at input 1.
Status read_lstm(const RegistryCall& call, const LayerAttributes& attributes, LstmProblem* out);

// DynamicRNN(x, w, b?, mask?, init_h?, init_c?) and DynamicRNNV2(x, w_x, w_h, b?, mask?, init_h?, init_c?), both to
// (y, h, c, i, j, f, o, tanh(c)). x: [steps, batch, inputs]; w: [inputs + hidden, 4 hidden], or its parts; b: [4
// hidden]; init_h, init_c: [1, batch, hidden]; all others [steps, batch, hidden].
Status compile_lstm(const RegistryCall& call, const LayerAttributes& attributes,
                    std::unique_ptr<const CompiledOperator>* out);
Status compile_lstm_v2(const RegistryCall& call, const LayerAttributes& attributes,
                       std::unique_ptr<const CompiledOperator>* out);

// DynamicRNNGrad(x, w, b, y, init_h, init_c, h, c, dy, dh, dc, i, j, f, o, tanh(c), mask?, ..) to (dw, db, dx, dinit_h,
// dinit_c), DynamicRNNV2Grad(x, w_x, w_h, y, ..) to (dw_x, dw_h, db, dx, dinit_h, dinit_c). dh, dc: gradients of the
// state after the last step, [batch, hidden]. The inputs after the mask are not read.
Status compile_lstm_grad(const RegistryCall& call, const LayerAttributes& attributes,
                         std::unique_ptr<const CompiledOperator>* out);
Status compile_lstm_v2_grad(const RegistryCall& call, const LayerAttributes& attributes,
                            std::unique_ptr<const CompiledOperator>* out);

}  // namespace softnpu
