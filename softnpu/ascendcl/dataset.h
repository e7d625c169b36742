#pragma once
// The buffers of a model's inputs or outputs.

#include <vector>

#include "acl/acl_mdl.h"
#include "base/handles.h"

struct aclmdlDataset {
  std::vector<aclDataBuffer*> buffers;  // the program's
};

namespace softnpu {

Handles<aclmdlDataset>& datasets();

}  // namespace softnpu
