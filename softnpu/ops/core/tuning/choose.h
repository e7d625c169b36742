#pragma once
// Chooses between implementations of the same work: by a fixed rule, or by the time that they take.

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "nnopbase/plan.h"
#include "ops/core/tuning/attempt.h"
#include "ops/core/tuning/implementation.h"
#include "ops/core/tuning/tuner.h"

namespace softnpu {

// An implementation that may serve. `name` is a literal, different from that of the others.
struct Offer {
  const char* name;
  std::function<Attempt<Implementation>()> make;
  bool may_lose = false;  // it needs the permission to lose float32's precision
};

struct TunedWork {
  // Whether the result may be computed several times: it overlaps none of what is read.
  bool is_repeatable = false;
  TuningKey key;
  std::function<std::string()> describe;
};

// For work that may be timed (Tuner::is_on). `offers` are in the order of the fixed rule, whose choice is the first
// that supports the work. The first run of a shape times it and those that need no more memory than it, or than what
// serves without a permission; the fastest serves that shape from this run on. Nothing if there is no implementation.
std::optional<Implementation> choose_implementation(const TunedWork& work, std::span<const Offer> offers);

// Whether `memory` overlaps none of `others`.
bool is_separate(const MemoryAccess& memory, std::span<const MemoryAccess> others);

}  // namespace softnpu
