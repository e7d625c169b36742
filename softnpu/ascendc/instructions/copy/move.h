#pragma once
// How the bytes of a burst are copied.

#include <cstddef>

namespace softnpu::kernel {

// to = from, without overlap.
using MoveBytes = void (*)(void* to, const void* from, size_t bytes);

// Ordinary stores, as many bytes as a vector has at once. std::memmove may use string instructions, which take several
// times as long for bursts of some KiB.
MoveBytes move_bytes();

// The same, and prefetches what is behind the source: kernels read global memory tile after tile, and the copy of a
// tile has to wait for what the prefetcher of the CPU, which works within pages, has not seen yet.
MoveBytes move_bytes_ahead();

}  // namespace softnpu::kernel
