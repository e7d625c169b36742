#pragma once
// Items, which describe a tensor in host memory, and datasets, which are lists of items.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl_tdt.h"
#include "base/handles.h"

struct acltdtDataItem {
  acltdtTensorType type = ACL_TENSOR_DATA_UNDEFINED;
  aclDataType dtype = ACL_DT_UNDEFINED;
  std::vector<int64_t> dims;
  void* data = nullptr;
  size_t size = 0;
  std::shared_ptr<char[]> own;  // the memory of `data` where the item was received
};

struct acltdtDataset {
  acltdtDataset() = default;
  acltdtDataset(const acltdtDataset&) = delete;
  acltdtDataset& operator=(const acltdtDataset&) = delete;
  ~acltdtDataset() { forget_received(); }

  // Destroys the items that were received.
  void forget_received();

  std::vector<acltdtDataItem*> items;  // handles
  bool is_received = false;            // the items are the dataset's own
  std::string name;                    // of the channel
};

namespace softnpu {

Handles<acltdtDataItem>& data_items();
Handles<acltdtDataset>& tdt_datasets();

}  // namespace softnpu
