#pragma once
// What oneDNN computes on this CPU. Without oneDNN (SOFTNPU_ONEDNN=OFF) the answers are those of softnpu's own kernels.

#include <cstdint>
#include <initializer_list>

#include "acl/acl_base.h"

namespace softnpu {

// Whether oneDNN supports such sizes: its kernels count some of them in 32 bits without an overflow check.
bool onednn_counts(std::initializer_list<int64_t> sizes);

// Whether the CPU has instructions to multiply `dtype` (float32, float16, bfloat16) with float32 accumulation.
bool onednn_multiplies(aclDataType dtype);

// Whether the CPU multiplies bfloat16 matrices (AMX), many times as fast as float32.
bool onednn_has_tiles();

// Whether oneDNN multiplies float32 matrices with weights in a blocked layout that are packed once.
bool onednn_packs_weights();

}  // namespace softnpu
