#pragma once
// The same as aten/aclnn/attributes.h for what only npu:: operators need.

#include <c10/core/Scalar.h>

namespace torch_npu::attributes {

// Of a factor that aclnn takes as a double.
inline double number_of(const at::Scalar& scalar) { return scalar.toDouble(); }

}  // namespace torch_npu::attributes
