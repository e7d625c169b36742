#pragma once

#include "softnpu/softnpu.h"

// A task that always runs alone and names nothing that it writes.
inline softnpuTask make_task(
    const char* name, int32_t cost, aclError (*run)(void* state, char* message, size_t size), void* state = nullptr,
    void (*release)(void* state) = [](void*) {}) {
  return {name, cost, run, release, state, nullptr, nullptr, 0};
}
