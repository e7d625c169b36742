#pragma once
// `npu-smi info --json`.

#include <string>

#include "monitor/machine.h"

namespace softnpu::monitor {

// One object. What is modelled, not measured, is in each device's object "modelled".
std::string json(const Machine& machine);

}  // namespace softnpu::monitor
