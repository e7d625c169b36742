#pragma once
// Options that programs may change at run time.

#include <cstdint>

namespace torch_npu {

// aclnn's cubeMathType of float32 products: 0 keeps float32, other values allow lower precision. Throws for invalid
// values.
int8_t cube_math_type();
void set_cube_math_type(int64_t type);
// The same for float32 convolutions: 1 if they may have lower precision, else 0.
int8_t conv_cube_math_type();
void set_conv_allow_hf32(bool on);

// The time in ms after which host waits fail with an error that names the running operator; 0: no limit. Throws for a
// negative number. The device must be initialized.
void set_operator_timeout(int64_t ms);
// The same; 0 if it was not set.
int64_t operator_timeout();

// Whether operators may be compiled at run time. Stored for programs that query it: aclnn's are compiled already.
bool jit_compile();
void set_jit_compile(bool on);

// Whether tensors may have private formats.
bool allow_internal_format();
void set_allow_internal_format(bool on);

}  // namespace torch_npu
