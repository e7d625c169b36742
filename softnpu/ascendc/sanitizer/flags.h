#pragma once
// Flags by their names.

#include <string>

#include "ascendc/sanitizer/pipe_queues.h"
#include "ascendc/sanitizer/report.h"

namespace softnpu::kernel::check {

// "MTE2_V, event 1"
inline std::string text_of(const Flag& flag) {
  return std::string(name_of(flag.from)) + "_" + name_of(flag.to) + ", event " + std::to_string(flag.event);
}

}  // namespace softnpu::kernel::check
