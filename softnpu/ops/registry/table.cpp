// The table of all operators. Facts: call sites in Ascend/op-plugin and Ascend/pytorch (BSD-3-Clause). See
// PROVENANCE.md.

#include <algorithm>

#include "ops/registry/registry.h"

namespace softnpu {

std::span<const std::span<const OperatorRow>> registry() {
  static const std::span<const OperatorRow> kFamilies[] = {
      elementwise_rows(), gradient_rows(),  reduction_rows(), shape_rows(), index_rows(),
      matmul_rows(),      image_rows(),     norm_rows(),      loss_rows(),  random_rows(),
      format_rows(),      recurrent_rows(), attention_rows()};
  return kFamilies;
}

const OperatorRow* find_operator(std::string_view type) {
  for (const auto& family : registry()) {
    const auto row = std::ranges::find_if(family, [&](const OperatorRow& one) { return one.name == type; });
    if (row != family.end()) return &*row;
  }
  return nullptr;
}

}  // namespace softnpu
