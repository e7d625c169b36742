// The table of operators invoked by type name. Facts: call sites in Ascend/op-plugin and Ascend/pytorch (BSD-3-Clause).
// See PROVENANCE.md.

#include "ops/nn/recurrent/gru.h"
#include "ops/nn/recurrent/lstm.h"
#include "ops/registry/operators.h"

namespace softnpu {

std::span<const OperatorType> operator_types() {
  static constexpr OperatorType kTypes[] = {
      {"DynamicGRUV2", &compile_gru},     {"DynamicGRUV2Grad", &compile_gru_grad},
      {"DynamicRNN", &compile_lstm},      {"DynamicRNNGrad", &compile_lstm_grad},
      {"DynamicRNNV2", &compile_lstm_v2}, {"DynamicRNNV2Grad", &compile_lstm_v2_grad},
  };
  return kTypes;
}

std::span<const std::span<const PlannedType>> planned_types() {
  static const std::span<const PlannedType> kFamilies[] = {
      elementwise_types(), gradient_types(), reduction_types(), shape_types(),  index_types(),  matmul_types(),
      image_types(),       norm_types(),     loss_types(),      random_types(), format_types(),
  };
  return kFamilies;
}

}  // namespace softnpu
