#include <string>

#include "acl/acl.h"
#include "api.h"
#include "base/log.h"
#include "base/text.h"

namespace softnpu {
namespace {

struct RecentError {
  std::string newest;
  std::string handed_out;
};

thread_local RecentError recent_error;

}  // namespace

void record_error(const char* function, const Status& status) noexcept {
  try {
    recent_error.newest = text(function, ": ", status.message(), " [error ", status.code(), "]");
    log(ACL_ERROR, recent_error.newest);
  } catch (...) {
    // Without memory for the text the code alone has to do.
  }
}

}  // namespace softnpu

const char* aclGetRecentErrMsg() {
  auto& recent = softnpu::recent_error;
  if (recent.newest.empty()) return nullptr;
  recent.handed_out.swap(recent.newest);
  recent.newest.clear();
  return recent.handed_out.c_str();
}
