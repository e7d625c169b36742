#pragma once
// The official error codes of operators, which programs look for in messages: "ERR01001 OPS invalid parameter".

#include <c10/util/Exception.h>

#include <string>

namespace torch_npu {

// In a catch block for a c10::Error: rethrows it with its type; errors about arguments end with the line of their code.
[[noreturn]] void rethrow_with_code();

// Throws `message` with the type of `error`, or as c10::Error if it has a rare one, and with the line of its code.
[[noreturn]] void throw_like(const c10::Error& error, std::string message);

}  // namespace torch_npu
