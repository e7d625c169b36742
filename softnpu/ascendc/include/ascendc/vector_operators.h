#pragma once
// Operators of whole tensors: c = a + b. Sources: their use in DrivingSDK kernels, whose operands have the same size.

#include <algorithm>

#include "ascendc/vector_binary.h"
#include "ascendc/vector_select.h"

namespace AscendC::inner {

// As many elements as each of the three tensors has; the destination of a comparison has a bit for each.
template <typename D, typename T, TensorOperator op>
void assign(const LocalTensor<D>& dst, const TensorExpression<T, op>& expression) {
  const auto& [first, second, where] = expression;
  const uint32_t count = std::min(first.GetSize(), second.GetSize());
  constexpr bool is_comparison = op == TensorOperator::kLt || op == TensorOperator::kLe || op == TensorOperator::kEq;
  if constexpr (is_comparison) {
    constexpr CMPMODE mode = op == TensorOperator::kLt   ? CMPMODE::LT
                             : op == TensorOperator::kLe ? CMPMODE::LE
                                                         : CMPMODE::EQ;
    const auto bits = static_cast<uint32_t>(std::min<uint64_t>(count, uint64_t{dst.GetLength()} * 8));
    const auto plain = binary("Compare", VectorOp::kCount, first, first, second, {}, where);
    issue_count(comparison(plain, dst, mode), bits);
  } else {
    static_assert(std::is_same_v<D, T>, "the result has the type of the operands");
    const auto all = static_cast<int32_t>(std::min(count, dst.GetSize()));
    if constexpr (op == TensorOperator::kAdd) Add(dst, first, second, all, where);
    if constexpr (op == TensorOperator::kSub) Sub(dst, first, second, all, where);
    if constexpr (op == TensorOperator::kMul) Mul(dst, first, second, all, where);
    if constexpr (op == TensorOperator::kDiv) Div(dst, first, second, all, where);
    if constexpr (op == TensorOperator::kAnd) And(dst, first, second, all, where);
  }
}

}  // namespace AscendC::inner
