#pragma once
// Conversions to oneDNN's data types, and properties of the CPU.

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "acl/acl_base.h"
#include "ops/blas/onednn/engine.h"

namespace softnpu {

// For float32, float16, bfloat16.
dnnl::memory::data_type onednn_type(aclDataType dtype);

// Whether oneDNN supports such sizes: its kernels count some of them in 32 bits without an overflow check.
bool onednn_counts(std::initializer_list<int64_t> sizes);

// Whether the CPU has instructions to multiply `dtype`, one of the above, with float32 accumulation.
bool onednn_multiplies(aclDataType dtype);

// Whether the CPU multiplies bfloat16 matrices (AMX), many times as fast as float32.
bool onednn_has_tiles();

// Whether oneDNN multiplies float32 matrices with weights in a blocked layout that are packed once; and whether the
// kernel of that name does.
bool onednn_packs_weights();
bool onednn_packs_weights(std::string_view implementation);

}  // namespace softnpu
