#pragma once
// The one place where an aclError becomes an exception.

#include <acl/acl.h>

#include <source_location>
#include <string>

namespace torch_npu {

// Throws c10::Error where `code` is not success: which call, the runtime's own words, the official error code. Any call
// may return the failure of work that was queued before it: the text then says how to find the line that launched it,
// and an index out of range is an IndexError. `call` is the C function's name.
void acl_check(aclError code, const char* call, std::source_location where = std::source_location::current());

// The same for places that must not throw (destructors, process exit): one warning instead.
void acl_warn(aclError code, const char* call) noexcept;

// `message`, and where it tells of queued work, how to find the line that launched it.
std::string with_hint(std::string message);

// The official scheme's tail for a text: "\n[ERROR] time (PID, Device, RankID) ERR<SS><CCC> <module> <text>".
std::string error_tail(const char* code, const char* text);

// Looks up a function that not every CANN has in the one that is bound: one of softnpu's own, or of later versions.
// Null where it has none.
void* bound_symbol(const char* name);

}  // namespace torch_npu
