#include "base/border.h"
#include "softnpu/softnpu.h"

// The text belongs to libascendcl's thread, whichever library reports.
void softnpu::record_error(const char* function, const Status& status) noexcept {
  softnpuSetRecentError(function, status.code(), status.message().c_str());
}
