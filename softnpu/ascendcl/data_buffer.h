#pragma once
// The fields of an aclDataBuffer, for operators invoked through aclopCompileAndExecute.

#include <cstddef>

#include "acl/acl_base.h"
#include "base/handles.h"

struct aclDataBuffer {
  void* data = nullptr;
  size_t size = 0;  // in bytes
};

namespace softnpu {

// Exported: libacl_op_compiler reads the buffers of a call.
ACL_FUNC_VISIBILITY Handles<aclDataBuffer>& data_buffers();

}  // namespace softnpu
