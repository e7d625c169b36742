#pragma once
// Names of the kernels of 2023, whose namespace is tik2. Facts: Ascend/samples (Apache-2.0),
// 6_ascendc_custom_op/kernel_invocation/Add/add_custom.cpp. See PROVENANCE.md.

#include <cstdint>

#include "ascendc/block_info.h"
#include "ascendc/qualifiers.h"

namespace AscendC {

// Where the calling block's part of `address` begins, if each block has `length` elements of T.
template <typename T>
GM_ADDR ParamOffset(GM_ADDR address, uint64_t length) {
  return address + static_cast<uint64_t>(GetBlockIdx()) * length * sizeof(T);
}

}  // namespace AscendC

namespace tik2 = AscendC;
