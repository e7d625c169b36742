#pragma once
// Watching the results of operators for infinities and NaN (softnpu/overflow.h). Phase one collects what a call writes,
// per thread, if anything watches; the launch takes it, and checks it after the work.

#include <memory>
#include <vector>

#include "nnopbase/tensor.h"
#include "softnpu/overflow.h"

namespace softnpu {

// A floating-point result. Complex numbers are two elements.
struct FloatOutput {
  const void* data = nullptr;  // its first element, in device memory
  aclDataType dtype = ACL_DT_UNDEFINED;
  Dims dims;
  Dims strides;  // in elements
};
using FloatOutputs = std::vector<FloatOutput>;

// A call of this thread writes or reads the tensor, which may be null.
void collect_output(const aclTensor* tensor);
ACL_FUNC_VISIBILITY void collect_input(const aclTensor* tensor);

// What was collected for the call of `op`; null if nothing is to be checked: `op` moves elements, or none is floating.
ACL_FUNC_VISIBILITY std::shared_ptr<const FloatOutputs> take_outputs(const char* op);

// Sets the device's flag if an element is infinite or NaN, and replaces it if `mode` says so.
void check_outputs(const FloatOutputs& outputs, softnpuOverflowMode mode);

// Collects an argument that the call only reads.
template <typename T>
void collect_if_read(const T& argument) {
  if constexpr (std::is_same_v<T, const aclTensor*>) collect_input(argument);
}

}  // namespace softnpu
