#pragma once
// Which local memory a position is in, and which pipes work on it.

#include "ascendc/types.h"
#include "softnpu_kernel/core.h"

namespace softnpu::kernel {

constexpr LocalMemory memory_of(AscendC::TPosition position) {
  using AscendC::TPosition;
  switch (position) {
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
    case TPosition::SHM:
    case TPosition::TSCM: return LocalMemory::kL1;
    case TPosition::A2: return LocalMemory::kL0A;
    case TPosition::B2: return LocalMemory::kL0B;
    case TPosition::CO1: return LocalMemory::kL0C;
    case TPosition::C2: return LocalMemory::kBias;
    case TPosition::C2PIPE2GM: return LocalMemory::kFixpipe;
    default: return LocalMemory::kUnified;
  }
}

// The pipe that fills a tensor of a queue with this source position.
constexpr Pipe producer_of(AscendC::TPosition position) {
  using AscendC::TPosition;
  switch (position) {
    case TPosition::VECOUT:
    case TPosition::VECCALC:
    case TPosition::CO2: return Pipe::kV;
    case TPosition::A2:
    case TPosition::B2:
    case TPosition::C2: return Pipe::kMte1;
    case TPosition::CO1: return Pipe::kM;
    default: return Pipe::kMte2;
  }
}

// The pipe that reads a tensor of a queue with this destination position.
constexpr Pipe consumer_of(AscendC::TPosition position) {
  using AscendC::TPosition;
  switch (position) {
    case TPosition::VECIN:
    case TPosition::VECCALC: return Pipe::kV;
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
    case TPosition::SHM:
    case TPosition::TSCM: return Pipe::kMte1;
    case TPosition::A2:
    case TPosition::B2:
    case TPosition::C2: return Pipe::kM;
    case TPosition::CO1: return Pipe::kV;
    default: return Pipe::kMte3;
  }
}

// The pipe that copies between two local positions.
constexpr Pipe local_copier(AscendC::TPosition from, AscendC::TPosition to) {
  if (memory_of(from) == LocalMemory::kL1) return Pipe::kMte1;
  return memory_of(to) == LocalMemory::kUnified ? Pipe::kV : Pipe::kMte3;
}

}  // namespace softnpu::kernel
