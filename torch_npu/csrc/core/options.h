#pragma once
// What programs choose while they run.

#include <cstdint>

namespace torch_npu {

// aclnn's cubeMathType of float32 products: 0 keeps float32, other values allow less. Throws for what does not exist.
int8_t cube_math_type();
void set_cube_math_type(int64_t type);
// The same of float32 convolutions: 1 where they may be computed with less, else 0.
int8_t conv_cube_math_type();
void set_conv_allows_less(bool on);

// How many ms an operator may run before the host's waits fail with an error that names it; 0: for ever. Throws for a
// negative number. The device has to be initialized.
void set_operator_timeout(int64_t ms);
// The same; 0 where nothing was set.
int64_t operator_timeout();

// Whether operators may be compiled while a program runs. Kept for programs that ask: aclnn's are compiled already.
bool jit_compile();
void set_jit_compile(bool on);

// Whether tensors may be given private formats.
bool allow_internal_format();
void set_allow_internal_format(bool on);

}  // namespace torch_npu
