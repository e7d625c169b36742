#include "base/border.h"
#include "softnpu/softnpu.h"

// All libraries store the text in libascendcl's thread state.
void softnpu::record_error(const char* function, aclError code, const char* message, Cause /*cause*/) noexcept {
  softnpuSetRecentError(function, code, message);
}

// A launch is a call of libascendcl, which sees its success.
void softnpu::record_success() noexcept {}
