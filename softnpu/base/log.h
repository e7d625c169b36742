#pragma once

#include <string_view>

#include "acl/acl_base.h"

namespace softnpu {

// Writes one line to stdout, if ASCEND_SLOG_PRINT_TO_STDOUT=1, and to a file in the folder ASCEND_PROCESS_LOG_PATH, if
// that is set, where `level` reaches ASCEND_GLOBAL_LOG_LEVEL (0 debug, 1 info, 2 warning, 3 error, 4 none; default 3)
// or the module's own level in SOFTNPU_LOG_LEVELS ("runtime=1,acl=0"). Writes nothing for a level that does not exist.
// Any thread. `module` is one of runtime, acl, op_compiler, application.
void log(aclLogLevel level, std::string_view module, std::string_view text);

bool log_enabled(aclLogLevel level, std::string_view module) noexcept;

// The level of a module in a list such as "runtime=1,acl=0"; `other` if it is not in it, or has no number from 0 to 4.
int module_level(std::string_view levels, std::string_view module, int other) noexcept;

}  // namespace softnpu
