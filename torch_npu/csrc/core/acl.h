#pragma once
// The one place where an aclError becomes an exception.

#include <acl/acl.h>

#include <source_location>
#include <string>

namespace torch_npu {

// Throws c10::Error unless `code` is success, with the call, the runtime's message and the official error code. Any
// call may return the failure of work that was queued before: the text then says how to find the line that launched it.
// An index out of range becomes an IndexError. `call` is the C function's name.
void acl_check(aclError code, const char* call, std::source_location where = std::source_location::current());

// The same for code that must not throw (destructors, process exit): one warning instead.
void acl_warn(aclError code, const char* call) noexcept;

// `message`; if it is about queued work, with how to find the line that launched it.
std::string with_hint(std::string message);

// The suffix of error texts in the official scheme: "\n[ERROR] time (PID, Device, RankID) ERR<SS><CCC> <module>
// <text>".
std::string error_tail(const char* code, const char* text);

// Looks up an optional function in the bound CANN: one of softnpu's own, or of later versions. Null if there is none.
void* bound_symbol(const char* name);

}  // namespace torch_npu
