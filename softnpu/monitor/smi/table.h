#pragma once
// The table of `npu-smi info`. Monitors read it by its columns.

#include <string>

#include "monitor/machine.h"

namespace softnpu::monitor {

// Devices and their processes, in the layout of the machine's SoC: 98 columns.
std::string table(const Machine& machine);
// The processes alone.
std::string process_table(const Machine& machine);

}  // namespace softnpu::monitor
