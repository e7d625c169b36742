#pragma once
// out[i] = f(in[i], ...) over tensors of one broadcast shape, any dtypes and any strides.

#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>

#include "nnopbase/executor.h"
#include "nnopbase/scalar.h"
#include "nnopbase/tensor.h"
#include "ops/dtype.h"

namespace softnpu {

// `count` values of every input, one behind the other in the compute type of the mapping; `out` may be one of the
// inputs.
using MapKernel = void (*)(void* out, const void* const* in, size_t count, const void* constants);

struct Mapping {
  static constexpr size_t kMostConstants = 4;

  MapKernel kernel = nullptr;
  // What operands are converted to before the kernel sees them, and what its result is rounded to.
  aclDataType dtype = ACL_DT_UNDEFINED;
  alignas(16) std::array<std::byte, kMostConstants * 16> constants{};
  // Whether the second input, where it is one number, keeps the digits that its type has and `dtype` has not.
  bool keeps_number = false;
  // About what one element costs beside its memory, in simple vector operations.
  double cost = 1;

  // Constant `i`, converted to the compute type; rounded to `dtype` where PyTorch's kernel has it in that.
  void set(size_t i, const aclScalar& value, bool is_rounded = false);
  void set(size_t i, double value);
};

// A tensor, or a scalar that is seen everywhere. Borrowed for the time of planning.
struct MapInput {
  MapInput(const aclTensor& of) : tensor(&of) {}  // NOLINT(google-explicit-constructor): both are inputs
  MapInput(const aclScalar& of) : scalar(&of) {}  // NOLINT(google-explicit-constructor)
  const aclTensor* tensor = nullptr;
  const aclScalar* scalar = nullptr;
};

// Plans the mapping of `inputs` to `out`. Tensors in blocked formats are all alike; where their blocks are not full,
// zeros become zeros.
Status plan_map(const Mapping& mapping, std::span<const MapInput> inputs, const aclTensor& out, Plan* plan);
inline Status plan_map(const Mapping& mapping, std::initializer_list<MapInput> inputs, const aclTensor& out,
                       Plan* plan) {
  return plan_map(mapping, std::span(inputs.begin(), inputs.size()), out, plan);
}

}  // namespace softnpu
