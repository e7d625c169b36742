#pragma once
// Planners for operators.txt: random distributions in tensors of any strides.

#include "nnopbase/executor.h"
#include "nnopbase/scalar.h"
#include "ops/math/random/source.h"

namespace softnpu {

// 1 with probability `prob`, else 0; any real type.
Status bernoulli(const aclTensor& self, const aclScalar& prob, const RandomSeed& seed, Plan* plan);
// A probability per element, broadcast.
Status bernoulli(const aclTensor& self, const aclTensor& prob, const RandomSeed& seed, Plan* plan);

// Uniform in [from, to); rounding to the type may yield `to` itself.
Status uniform(const aclTensor& self, double from, double to, const RandomSeed& seed, Plan* plan);

// A tensor or a number.
struct NormalParameter {
  NormalParameter(float of) : number(of) {}              // NOLINT(google-explicit-constructor): both are parameters
  NormalParameter(const aclTensor& of) : tensor(&of) {}  // NOLINT(google-explicit-constructor)
  float number = 0;
  const aclTensor* tensor = nullptr;
};
// By Box and Muller's transformation. For complex numbers both parts are drawn, with std / sqrt(2).
Status normal(NormalParameter mean, NormalParameter std, const RandomSeed& seed, const aclTensor& out, Plan* plan);

// With density lambda exp(-lambda x); never 0. `count` is the number of elements.
Status exponential(const aclTensor& self, int64_t count, double lambda, const RandomSeed& seed, Plan* plan);

// Uniform among the integers [from, to).
Status integers(const aclTensor& self, int64_t from, int64_t to, const RandomSeed& seed, Plan* plan);
// From 0 to the maximum of an integral type, or to the last floating-point number before integers have gaps.
Status integers(const aclTensor& self, const RandomSeed& seed, Plan* plan);

}  // namespace softnpu
