#pragma once
// What programs choose while they run.

#include <cstdint>

namespace torch_npu {

// aclnn's cubeMathType of float32 products: 0 keeps float32, other values allow less. Throws for what does not exist.
int8_t cube_math_type();
void set_cube_math_type(int64_t type);

}  // namespace torch_npu
