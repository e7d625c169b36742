// A library that programs ask for by its name and whose own functions softnpu does not have. When it is loaded the log
// says so, as information (ASCEND_GLOBAL_LOG_LEVEL=1). The build sets the two texts.

#include "base/border.h"
#include "base/log.h"
#include "base/text.h"

namespace {

[[gnu::constructor]] void tell() {
  softnpu::guarded(
      [] { softnpu::log(ACL_INFO, "acl", softnpu::text(SOFTNPU_LIBRARY, " was loaded: ", SOFTNPU_LACKS)); });
}

}  // namespace
