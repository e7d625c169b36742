// Indexing operators invoked by type name.

#include <algorithm>
#include <iterator>

#include "ops/core/copy/strided_copy.h"
#include "ops/registry/infer.h"
#include "ops/registry/invalid_call.h"
#include "ops/registry/registry.h"
#include "ops/tensor/index/operators.h"

namespace softnpu {
namespace {

// Index tensors from input `first` on are for the dimensions whose mask is 1; other dimensions are whole.
Status indices_by(const aclIntArray& masks, const Operands& of, size_t first, aclTensorList* out) {
  const aclTensorList given = of.list(first);
  size_t used = 0;
  for (int64_t mask : masks) {
    if (mask != 0 && used == given.size()) return invalid_call("fewer index tensors than masks of 1");
    out->values.push_back(mask != 0 ? given[used++] : nullptr);
  }
  return used == given.size() ? Status::ok() : invalid_call("more index tensors than masks of 1");
}

Status plan_index(Operands& of, Plan* plan) {
  aclTensorList indices;
  SOFTNPU_RETURN_IF_ERROR(indices_by(of.numbers(1), of, 3, &indices));
  return index(of.in(0), indices, of.out(), plan);
}

// In place: the result is the first input.
Status plan_index_put(Operands& of, Plan* plan) {
  aclTensorList indices;
  SOFTNPU_RETURN_IF_ERROR(indices_by(of.numbers(2), of, 4, &indices));
  if (of.out().data != of.in(0).data) return invalid_call("the result is not the first input");
  return index_put(of.out(), indices, of.in(1), of.flag("accumulate"), plan);
}

Status plan_gather(Operands& of, Plan* plan) {
  const aclIntArray axis = of.numbers(2);
  const int64_t batch_dims = of.integer("batch_dims");
  if (axis.size() != 1) return invalid_call("one axis is needed");
  if (batch_dims == 0) return gather_rows(of.in(0), axis[0], of.in(1), of.out(), plan);
  return gather_rows_of_batch(of.in(0), axis[0], of.in(1), batch_dims, of.out(), plan);
}

Status plan_scatter(Operands& of, Plan* plan) {
  const std::string reduction = of.words("reduction");
  constexpr const char* kReductions[] = {"none", "add", "mul", "max", "min"};
  const auto found = std::ranges::find(kReductions, reduction);
  if (found == std::end(kReductions)) return invalid_call("the reductions are none, add, mul, max and min");
  const int64_t kind = found - std::begin(kReductions);
  return scatter(of.in(0), of.integer("axis"), of.in(1), of.in(2), kind, true, of.out(), plan);
}

Status plan_index_add(Operands& of, Plan* plan) {
  const aclScalar alpha = of.count() > 3 ? of.number(3) : integer_scalar(1);
  return index_add(of.in(0), of.integer("axis"), of.in(1), of.in(2), alpha, of.out(), plan);
}

Status plan_embedding_gradient(Operands& of, Plan* plan) {
  return embedding_backward(of.in(0), of.in(1), of.integer("num_weights"), of.integer("padding_idx"),
                            of.flag("scale_grad_by_freq"), of.out(), plan);
}

}  // namespace

}  // namespace softnpu

#include "opgen/rows_index.inc"
