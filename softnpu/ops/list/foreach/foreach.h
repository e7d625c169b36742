#pragma once
// Planners for operators.txt: operators on one tensor, applied to each tensor of a list as one task.

#include "nnopbase/arrays.h"
#include "ops/math/elementwise/operators.h"

namespace softnpu {

// One argument of a list operator, for each of its tensors. Borrowed during planning.
class ListInput {
 public:
  ListInput(const aclTensorList& list) : tensors_(&list) {}  // NOLINT(google-explicit-constructor): a tensor for each
  ListInput(const aclScalarList& list) : scalars_(&list) {}  // NOLINT(google-explicit-constructor): a number for each
  ListInput(const aclScalar& scalar) : scalar_(&scalar) {}   // NOLINT(google-explicit-constructor): one for all
  ListInput(const aclTensor& element)
      : elements_(&element) {}  // NOLINT(google-explicit-constructor): one element for all

  // Element i for tensor i.
  friend ListInput each_of(const aclTensor& elements);

  // Checks that it can be used for `count` tensors.
  Status check(size_t count) const;
  // The input for tensor `i`; `view` stores the descriptor of a single element.
  MapInput at(size_t i, aclTensor* view) const;

 private:
  const aclTensorList* tensors_ = nullptr;
  const aclScalarList* scalars_ = nullptr;
  const aclScalar* scalar_ = nullptr;
  const aclTensor* elements_ = nullptr;
  bool has_one_for_each_ = false;  // elements_ has one per tensor
};

ListInput each_of(const aclTensor& elements);

Status foreach_unary(MapOp op, const aclTensorList& x, const aclTensorList& out, Plan* plan);
Status foreach_floating(MapOp op, const aclTensorList& x, const aclTensorList& out, Plan* plan);
Status foreach_zero(const aclTensorList& x, Plan* plan);
// Modes: 1 to nearest, 2 down, 3 up, 5 towards zero, 7 the fraction that mode 5 removes.
Status foreach_round(const aclTensorList& x, const aclScalar& mode, const aclTensorList& out, Plan* plan);
Status foreach_round(const aclTensorList& x, const aclTensor& mode, const aclTensorList& out, Plan* plan);
Status foreach_binary(MapOp op, ListInput x, ListInput y, const aclTensorList& out, Plan* plan);
Status foreach_binary(MapOp op, ListInput x, ListInput y, const aclScalar& alpha, const aclTensorList& out, Plan* plan);
Status foreach_add_scaled(ListInput x, ListInput y, const aclTensor& alpha, const aclTensorList& out, Plan* plan);
Status foreach_sub_scaled(ListInput x, ListInput y, const aclTensor& alpha, const aclTensorList& out, Plan* plan);
Status foreach_divide(ListInput x, ListInput y, const aclTensorList& out, Plan* plan);
Status foreach_power(ListInput x, ListInput y, const aclTensorList& out, Plan* plan);
Status foreach_lerp(ListInput x, ListInput y, const aclScalar& weight, const aclTensorList& out, Plan* plan);
Status foreach_lerp(ListInput x, ListInput y, const aclTensorList& weights, const aclTensorList& out, Plan* plan);
Status foreach_ternary(MapOp op, ListInput x, ListInput y, ListInput z, const aclScalar& value,
                       const aclTensorList& out, Plan* plan);
// With the factor in device memory.
Status foreach_addcmul(ListInput x, ListInput y, ListInput z, ListInput value, const aclTensorList& out, Plan* plan);
Status foreach_addcdiv(ListInput x, ListInput y, ListInput z, ListInput value, const aclTensorList& out, Plan* plan);

// out[i] = the norm of order `ord` of all of x[i], one element each. Sums are in float64, in a fixed order.
Status foreach_norm(const aclTensorList& x, const aclScalar& ord, const aclTensorList& out, Plan* plan);
// grads *= inverse_scale; found_inf becomes 1 if a gradient was not finite, else it is unchanged.
Status unscale(const aclTensorList& grads, const aclTensor& found_inf, const aclTensor& inverse_scale, Plan* plan);

}  // namespace softnpu
