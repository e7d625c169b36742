#pragma once
// Lets calls of this process fail: allocations by operator new and aligned_alloc, thread starts and system calls.

#include <cstdint>

namespace fault {

enum class Mode { kOnce, kFromThenOn };

// Lets the `number`-th call from now on fail, or all calls from that one on. 0: none.
void arm(Mode mode, uint64_t number);
// Ends the injection; returns how many calls failed.
uint64_t disarm();

// The first call that failed since arm().
const char* first_failed();

}  // namespace fault
