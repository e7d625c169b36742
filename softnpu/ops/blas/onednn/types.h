#pragma once
// Conversions to oneDNN's data types, and properties of its kernels.

#include <string_view>

#include "acl/acl_base.h"
#include "ops/blas/onednn/cpu.h"
#include "ops/blas/onednn/engine.h"

namespace softnpu {

// For float32, float16, bfloat16.
dnnl::memory::data_type onednn_type(aclDataType dtype);

// Whether the kernel of that name multiplies float32 matrices with packed weights.
bool onednn_packs_weights(std::string_view implementation);

}  // namespace softnpu
