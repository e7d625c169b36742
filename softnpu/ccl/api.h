#pragma once
// Common helpers of libhccl's C functions.

#include <memory>

#include "base/border.h"
#include "base/handles.h"
#include "ccl/communicator.h"
#include "hccl/hccl.h"

namespace softnpu::ccl {

// The result that says best what a status says.
HcclResult result_of(const Status& status);

// Runs `body`, which returns a Status, as the implementation of the C function `name`.
template <typename Body>
HcclResult hccl_api(const char* name, Body&& body) noexcept {
  Status status;
  const aclError code = api(name, [&] { return status = std::forward<Body>(body)(); });
  return result_of(code == status.code() ? status : Status(code, {}));
}

Handles<Communicator>& communicators();

// The live communicator of `handle`, to be used by this process.
Status find(HcclComm handle, std::shared_ptr<Communicator>* out);
// The same, to enqueue work on `stream`: fails if the communicator has failed, or if the stream is none.
Status find_for(HcclComm handle, aclrtStream stream, std::shared_ptr<Communicator>* out);

}  // namespace softnpu::ccl
