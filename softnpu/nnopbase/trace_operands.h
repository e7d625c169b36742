#pragma once
// What profilers show of a call: shapes, data types and formats.

#include <memory>
#include <string>

#include "nnopbase/planned.h"

namespace softnpu {

// Whether a recording wants to know the operands of calls.
bool traces_operands() noexcept;
// Whether a recording wants calls or tasks.
bool traces_launches() noexcept;

// The operands of the call that `planned` was made by, as softnpuTraceDetail takes them: inputs, then outputs, which
// are the tensors that the plan writes. Null if the call's arguments are not known. The arguments are alive.
std::shared_ptr<const std::string> operands_of(const Planned& planned);

}  // namespace softnpu
