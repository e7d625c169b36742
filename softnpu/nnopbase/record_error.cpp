#include "base/border.h"
#include "softnpu/softnpu.h"

// The text belongs to libascendcl's thread, whichever library reports.
void softnpu::record_error(const char* function, aclError code, const char* message) noexcept {
  softnpuSetRecentError(function, code, message);
}
