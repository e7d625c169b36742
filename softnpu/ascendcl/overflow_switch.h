#pragma once

#include <cstdint>

#include "runtime/stream/stream.h"

namespace softnpu {

// Whether results of the stream's operators set the overflow flag: 1 or 0. A destroyed stream keeps its switch.
void set_overflow_switch(Stream& stream, uint32_t flag);

}  // namespace softnpu
