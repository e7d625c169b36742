#pragma once
// Calls of libascendcl, whose failure is a Status here.

#include "acl/acl.h"
#include "base/status.h"

namespace softnpu::ccl {

// `call` returns an aclError; the text is what the library says.
template <typename Call>
Status from_acl(const Call& call) {
  const aclError code = call();
  if (code == ACL_SUCCESS) return Status::ok();
  const char* message = aclGetRecentErrMsg();
  return {code, message == nullptr ? "" : message};
}

}  // namespace softnpu::ccl
