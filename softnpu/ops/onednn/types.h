#pragma once
// Data types as oneDNN has them.

#include <string_view>

#include "acl/acl_base.h"
#include "ops/onednn/engine.h"

namespace softnpu {

// float32, float16, bfloat16.
dnnl::memory::data_type onednn_type(aclDataType dtype);

// Whether the CPU multiplies `dtype`, one of the above, with instructions for it, adding up in float32.
bool onednn_multiplies(aclDataType dtype);

// Whether the CPU multiplies matrices of bfloat16 (AMX), many times as fast as float32.
bool onednn_has_tiles();

// Whether products of float32 take weights in blocks of their own, packed once; by the kernel of that name.
bool onednn_packs_weights();
bool onednn_packs_weights(std::string_view implementation);

}  // namespace softnpu
