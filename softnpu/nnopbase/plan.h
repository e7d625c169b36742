#pragma once

#include <cstdint>
#include <string>

#include "base/inline_function.h"
#include "base/status.h"

namespace softnpu {

// What phase one decides about one call. Captures of the sizes below need no heap.
struct Plan {
  uint64_t workspace_bytes = 0;
  bool is_small = false;  // serial and done within a few microseconds
  // Does the work. `workspace` is where a kernel on the host may write it. Any thread, once a launch; launches of a
  // repeatable executor on two streams may overlap.
  InlineFunction<Status(void* workspace), 256> run;
  // What it is called with, for the message of a failed run: "(float32[2, 3], float32[3, 4])". May be empty.
  InlineFunction<std::string(), 64> describe = nullptr;
};

}  // namespace softnpu
