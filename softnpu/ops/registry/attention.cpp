// Attention as a node of a graph.

#include <utility>

#include "ops/nn/attention/attention.h"
#include "ops/nn/attention/gate.h"
#include "ops/nn/attention/rotary.h"
#include "ops/registry/infer.h"
#include "ops/registry/invalid_call.h"
#include "ops/registry/registry.h"

namespace softnpu {
namespace {

Status plan_attention(Operands& of, Plan* plan) {
  const double scale = of.real("scale");
  constexpr int64_t kAddedAfterScale = 0;  // scale q k' + bias
  return attention({.query = of.in(0),
                    .key = of.in(1),
                    .value = of.in(2),
                    .bias = of.maybe(3),
                    .scale = scale,
                    .heads = of.in(0).dims.size() == 4 ? of.in(0).dims[1] : 0,
                    .layout = "BNSD",
                    .pse_type = kAddedAfterScale},
                   {.out = of.out()}, plan);
}

Status attended(const aclTensor& q, const aclTensor& k, const aclTensor& v, aclTensor& y) {
  if (q.dims.size() != 4 || k.dims.size() != 4 || v.dims.size() != 4) {
    return invalid_call("tensors [N, heads, S, D] are needed");
  }
  if (k.dims[2] != v.dims[2] || q.dims[3] != k.dims[3]) return invalid_call("the sizes of q, k and v do not match");
  return sized(ints({q.dims[0], q.dims[1], q.dims[2], v.dims[3]}), q.dtype, y);
}

Status half_size(const aclTensor& x, int64_t dim, aclTensor& y) {
  size_t location = 0;
  SOFTNPU_RETURN_IF_ERROR(find_dim(dim, x.dims.size(), &location));
  if (x.dims.empty() || x.dims[location] % 2 != 0) return invalid_call("a dimension of even size is needed");
  Dims sizes = x.dims;
  sizes[location] /= 2;
  y.dtype = x.dtype;
  y.dims = std::move(sizes);
  return Status::ok();
}

}  // namespace

}  // namespace softnpu

#include "opgen/rows_attention.inc"
