#pragma once
// The buffers of a model's inputs or outputs.

#include <cstdint>
#include <vector>

#include "acl/acl_mdl.h"
#include "base/handles.h"

struct aclmdlDataset {
  aclmdlDataset() = default;
  aclmdlDataset(const aclmdlDataset&) = delete;
  aclmdlDataset& operator=(const aclmdlDataset&) = delete;
  ~aclmdlDataset();

  std::vector<aclDataBuffer*> buffers;      // the program's
  std::vector<std::vector<int64_t>> sizes;  // of the inputs, as the program set them; empty ones were not set
  std::vector<aclTensorDesc*> descs;        // of the outputs of the newest run of a model with open sizes; its own
};

namespace softnpu {

Handles<aclmdlDataset>& datasets();

}  // namespace softnpu
