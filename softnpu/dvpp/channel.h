#pragma once
// Channels and configurations of pictures' work, and how it is given to a stream.

#include <atomic>
#include <functional>
#include <memory>

#include "acl/ops/acl_dvpp.h"
#include "base/handles.h"
#include "base/status.h"
#include "dvpp/picture.h"

struct acldvppChannelDesc {
  std::atomic<bool> is_created{false};
  std::atomic<uint32_t> mode{DVPP_CHNMODE_VPC | DVPP_CHNMODE_JPEGD | DVPP_CHNMODE_JPEGE | DVPP_CHNMODE_PNGD};
  std::atomic<uint32_t> csc_matrix{ACL_DVPP_CSC_MATRIX_BT601_WIDE};
  uint64_t id = 0;
};
struct acldvppRoiConfig {
  uint32_t left = 0;
  uint32_t right = 0;
  uint32_t top = 0;
  uint32_t bottom = 0;
};
struct acldvppResizeConfig {
  uint32_t interpolation = 0;
};
struct acldvppJpegeConfig {
  uint32_t level = 100;
};

namespace softnpu {

Handles<acldvppRoiConfig>& areas();
Handles<acldvppResizeConfig>& resize_configs();
Handles<acldvppJpegeConfig>& jpeg_configs();

// Checks that the channel was created, with `mode` among its modes.
Status find_channel(const acldvppChannelDesc* handle, uint32_t mode, std::shared_ptr<acldvppChannelDesc>* out);

// Gives `work` to the stream, as the task `name`. Its code is stored in `result` if that is given. `written` is the
// device memory that it writes.
Status launch_picture_work(const char* name, aclrtStream stream, std::function<Status()> work,
                           std::shared_ptr<acldvppPicDesc> result, const void* written, size_t bytes);

}  // namespace softnpu
