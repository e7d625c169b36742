#pragma once
// Like aten/aclnn/attributes.h, for functions that only npu:: operators use.

#include <c10/core/Scalar.h>

namespace torch_npu::attributes {

// For a factor that aclnn takes as a double.
inline double number_of(const at::Scalar& scalar) { return scalar.toDouble(); }

}  // namespace torch_npu::attributes
