// Reductions and scans invoked by type name.

#include "ops/math/elementwise/operators.h"
#include "ops/math/reduce/operators.h"
#include "ops/registry/infer.h"
#include "ops/registry/registry.h"

namespace softnpu {
namespace {

// No dimensions means all of them; the official plug-in lists all dimensions in that case.
template <ReduceOp op>
Status plan_sum(Operands& of, Plan* plan) {
  const aclIntArray dims = of.numbers(1);
  return reduce_sum(op, of.in(0), &dims, of.flag("keep_dims"), of.out().dtype, of.out(), plan);
}

Status plan_mean(Operands& of, Plan* plan) {
  const aclIntArray dims = of.numbers(1);
  return reduce_mean(of.in(0), &dims, of.flag("keep_dims"), of.out().dtype, of.out(), plan);
}

Status plan_mean_attribute(Operands& of, Plan* plan) {
  const aclIntArray dims = of.integers("axes");
  return reduce_mean(of.in(0), &dims, of.flag("keep_dims"), of.out().dtype, of.out(), plan);
}

Status plan_product(Operands& of, Plan* plan) {
  const aclIntArray dims = of.numbers(1);
  if (dims.size() == 1 && of.in(0).dims.size() > 1) {
    return reduce_prod(of.in(0), dims[0], of.flag("keep_dims"), of.out().dtype, of.out(), plan);
  }
  if (dims.size() != of.in(0).dims.size() && !dims.empty()) {
    return {ACL_ERROR_INVALID_PARAM, "products over one dimension or over all of them are implemented"};
  }
  return reduce_prod(of.in(0), of.out().dtype, of.out(), plan);
}

template <ReduceOp op>
Status plan_extreme(Operands& of, Plan* plan) {
  const aclIntArray dims = of.numbers(1);
  return reduce_extreme(op, of.in(0), &dims, of.flag("keep_dims"), of.out(), plan);
}

template <ReduceOp op>
Status plan_bools(Operands& of, Plan* plan) {
  const aclIntArray dims = of.numbers(1);
  return reduce_bools(op, of.in(0), &dims, of.flag("keep_dims"), of.out(), plan);
}

Status plan_log_sum_exp(Operands& of, Plan* plan) {
  const aclIntArray dims = of.numbers(1);
  return reduce_logsumexp(of.in(0), &dims, of.flag("keep_dims"), of.out(), plan);
}

// The first result is the index.
template <ReduceOp op>
Status plan_where(Operands& of, Plan* plan) {
  return reduce_where(op, of.in(0), of.integer("dimension"), of.flag("keep_dims"), of.out(1), of.out(0), plan);
}

template <ReduceOp op>
Status plan_index(Operands& of, Plan* plan) {
  return reduce_index(op, of.in(0), of.number(1).as_int64(), of.flag("keep_dims"), of.out(), plan);
}

// The mean, input 1, is computed again.
Status plan_moments(bool root, Operands& of, Plan* plan) {
  const aclIntArray dims = of.integers("dim");
  const int64_t correction = of.has("correction") ? of.integer("correction") : of.flag("unbiased") ? 1 : 0;
  return reduce_moments(root, of.in(0), &dims, correction, of.flag("keepdim"), &of.out(), nullptr, plan);
}

template <ScanOp op>
Status plan_scan(Operands& of, Plan* plan) {
  if (of.flag("exclusive") || of.flag("reverse")) {
    return {ACL_ERROR_INVALID_PARAM, "scans that include each element, from the first on, are implemented"};
  }
  return scan(op, of.in(0), of.number(1).as_int64(), of.out().dtype, of.out(), plan);
}

// The whole norm is computed here, including the root, which LpNormUpdateV2 computes in the original.
Status plan_norm(Operands& of, Plan* plan) {
  const aclIntArray dims = of.integers("axes");
  const aclScalar p = of.scalar("p");
  return reduce_norm(of.in(0), &p, &dims, of.flag("keepdim"), of.out().dtype, of.out(), plan);
}

}  // namespace

}  // namespace softnpu

#include "opgen/rows_reduction.inc"
