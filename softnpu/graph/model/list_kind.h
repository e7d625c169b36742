#pragma once

#include <cstdint>

namespace softnpu::graph {

// The lists of sizes that a model may be compiled with.
enum class ListKind : uint8_t { kNone, kBatch, kImage, kDims };

}  // namespace softnpu::graph
