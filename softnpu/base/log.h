#pragma once

#include <string_view>

#include "acl/acl_base.h"

namespace softnpu {

// Writes one line to stdout if ASCEND_SLOG_PRINT_TO_STDOUT=1 and `level` reaches ASCEND_GLOBAL_LOG_LEVEL (0 debug, 1
// info, 2 warning, 3 error, 4 none; default 3). Writes nothing for a level that does not exist. Any thread.
void log(aclLogLevel level, std::string_view text);

bool log_enabled(aclLogLevel level) noexcept;

}  // namespace softnpu
