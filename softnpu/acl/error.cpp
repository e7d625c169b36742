#include <string>
#include <utility>

#include "acl/acl.h"
#include "api.h"
#include "base/log.h"
#include "base/text.h"

namespace softnpu {
namespace {

struct RecentError {
  std::string newest;
  std::string handed_out;
  bool without_text = false;  // no memory was left for it
};

thread_local RecentError recent_error;

}  // namespace

void record_error(const char* function, aclError code, const char* message) noexcept {
  recent_error.newest.clear();
  recent_error.without_text = true;
  try {
    recent_error.newest = text(function, ": ", message, " [error ", code, "]");
    recent_error.without_text = false;
    log(ACL_ERROR, recent_error.newest);
  } catch (...) {
    // aclGetRecentErrMsg says so.
  }
}

}  // namespace softnpu

const char* aclGetRecentErrMsg() {
  auto& recent = softnpu::recent_error;
  if (std::exchange(recent.without_text, false)) return "out of host memory: the error's own text is lost";
  if (recent.newest.empty()) return nullptr;
  recent.handed_out.swap(recent.newest);
  recent.newest.clear();
  return recent.handed_out.c_str();
}
