#pragma once
// Events and pipes by their names in Ascend C.

#include <iterator>

#include "ascendc/types.h"
#include "softnpu_kernel/core.h"

namespace softnpu::kernel {

inline constexpr int kEventsOfPair = 8;

// The pipe that sets an event, and the one that waits for it.
struct PipePair {
  Pipe from;
  Pipe to;
};

constexpr PipePair pipes_of(AscendC::HardEvent event) {
  using enum Pipe;
  constexpr PipePair kPairs[] = {
      {kMte2, kMte1}, {kMte1, kMte2}, {kMte1, kM}, {kM, kMte1}, {kMte2, kV},    {kV, kMte2},    {kMte3, kV},
      {kV, kMte3},    {kM, kV},       {kV, kM},    {kV, kV},    {kMte3, kMte1}, {kMte1, kMte3}, {kMte1, kV},
      {kMte2, kM},    {kM, kMte2},    {kV, kMte1}, {kM, kFix},  {kFix, kM},     {kMte3, kMte2}, {kMte2, kMte3},
      {kS, kV},       {kV, kS},       {kS, kMte2}, {kMte2, kS}, {kS, kMte3},    {kMte3, kS},    {kFix, kMte3},
      {kFix, kMte2},  {kFix, kS},     {kM, kS},    {kFix, kV}};
  static_assert(std::size(kPairs) == static_cast<size_t>(AscendC::HardEvent::MAX));
  return kPairs[static_cast<size_t>(event)];
}

constexpr Pipe pipe_of(pipe_t pipe) {
  switch (pipe) {
    case PIPE_V: return Pipe::kV;
    case PIPE_M: return Pipe::kM;
    case PIPE_MTE1: return Pipe::kMte1;
    case PIPE_MTE2: return Pipe::kMte2;
    case PIPE_MTE3: return Pipe::kMte3;
    case PIPE_FIX: return Pipe::kFix;
    default: return Pipe::kS;
  }
}

}  // namespace softnpu::kernel
