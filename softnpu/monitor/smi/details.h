#pragma once
// The answers of `npu-smi info -t TYPE`, -l and -m.

#include <string>
#include <string_view>

#include "base/status.h"
#include "monitor/machine.h"

namespace softnpu::monitor {

// The types, with commas between them.
std::string type_names();
Status check_type(std::string_view type);

// Of the devices in `machine`, which are those that were asked for.
std::string details(const Machine& machine, std::string_view type);
std::string list(const Machine& machine);
std::string mapping(const Machine& machine);

}  // namespace softnpu::monitor
