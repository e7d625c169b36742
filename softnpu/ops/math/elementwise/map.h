#pragma once
// out[i] = f(in[i], ...) over tensors that are broadcast to one shape, of any dtypes and strides.

#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>

#include "nnopbase/executor.h"
#include "nnopbase/scalar.h"
#include "nnopbase/tensor.h"
#include "ops/core/dtype.h"

namespace softnpu {

// Computes `count` contiguous values of every input, in the mapping's compute type; `out` may be one of the inputs.
using MapKernel = void (*)(void* out, const void* const* in, size_t count, const void* constants);

struct Mapping {
  static constexpr size_t kMaxConstants = 4;

  MapKernel kernel = nullptr;
  // For operands that are all of ACL_BOOL and contiguous; null: there is none.
  MapKernel of_truths = nullptr;
  // The type to which operands are converted for the kernel, and to which its result is rounded.
  aclDataType dtype = ACL_DT_UNDEFINED;
  alignas(16) std::array<std::byte, kMaxConstants * 16> constants{};
  // Whether the second input, if it is a single number, keeps digits that `dtype` does not have.
  bool keeps_number = false;
  // The approximate cost of one element beyond its memory accesses, in simple vector operations.
  double cost = 1;

  // Sets constant `i`, converted to the compute type; rounded to `dtype` if PyTorch's kernel does so.
  void set(size_t i, const aclScalar& value, bool is_rounded = false);
  void set(size_t i, double value);
};

// A tensor, or a scalar that is broadcast. Borrowed during planning.
struct MapInput {
  MapInput(const aclTensor& of) : tensor(&of) {}  // NOLINT(google-explicit-constructor): both are inputs
  MapInput(const aclScalar& of) : scalar(&of) {}  // NOLINT(google-explicit-constructor)
  const aclTensor* tensor = nullptr;
  const aclScalar* scalar = nullptr;
};

// Plans the mapping of `inputs` to `out`. Tensors in blocked formats must have the same layout; if their blocks are
// partly empty, the mapping must map zeros to zeros.
Status plan_map(const Mapping& mapping, std::span<const MapInput> inputs, const aclTensor& out, Plan* plan);
inline Status plan_map(const Mapping& mapping, std::initializer_list<MapInput> inputs, const aclTensor& out,
                       Plan* plan) {
  return plan_map(mapping, std::span(inputs.begin(), inputs.size()), out, plan);
}

}  // namespace softnpu
