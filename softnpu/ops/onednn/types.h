#pragma once
// Data types as oneDNN has them.

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "acl/acl_base.h"
#include "ops/onednn/engine.h"

namespace softnpu {

// float32, float16, bfloat16.
dnnl::memory::data_type onednn_type(aclDataType dtype);

// Whether oneDNN takes such sizes: its kernels count some of them in 32 bits, and fail with none of its errors.
bool onednn_counts(std::initializer_list<int64_t> sizes);

// Whether the CPU multiplies `dtype`, one of the above, with instructions for it, adding up in float32.
bool onednn_multiplies(aclDataType dtype);

// Whether the CPU multiplies matrices of bfloat16 (AMX), many times as fast as float32.
bool onednn_has_tiles();

// Whether products of float32 take weights in blocks of their own, packed once; by the kernel of that name.
bool onednn_packs_weights();
bool onednn_packs_weights(std::string_view implementation);

}  // namespace softnpu
