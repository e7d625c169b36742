#pragma once
// Watching the results of operators for infinities and NaN.

#include "nnopbase/call_tensors.h"

namespace softnpu {

// Sets the device's flag if an element of a result is infinite or NaN, and replaces it if `mode` says so.
void check_overflow(const CallTensors& tensors, softnpuOverflowMode mode);

}  // namespace softnpu
