#pragma once

#include "acl/acl_base.h"

namespace softnpu {

// Whether tensors of this format are stored in blocks: `dims` are the sizes that the program sees, `storage_dims` those
// in memory, and the strides are unused. ops/core/format/layout.h defines the blocks.
constexpr bool is_blocked_format(aclFormat format) {
  switch (format) {
    case ACL_FORMAT_NC1HWC0:
    case ACL_FORMAT_NC1HWC0_C04:
    case ACL_FORMAT_FRACTAL_Z:
    case ACL_FORMAT_FRACTAL_NZ:
    case ACL_FORMAT_NDC1HWC0:
    case ACL_FRACTAL_Z_3D:
    case ACL_FORMAT_FRACTAL_NZ_C0_16:
    case ACL_FORMAT_FRACTAL_NZ_C0_32:
    case ACL_FORMAT_FRACTAL_NZ_C0_2:
    case ACL_FORMAT_FRACTAL_NZ_C0_4:
    case ACL_FORMAT_FRACTAL_NZ_C0_8: return true;
    default: return false;
  }
}

}  // namespace softnpu
