#pragma once
// Work that stands behind one another in a stream, as it goes together. What one makes for the next, and nobody else
// can see, is not brought to its place in memory: both go over the place of what the last of them makes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nnopbase/producer.h"
#include "nnopbase/sweep.h"

namespace softnpu {

struct Link {
  const Producer* producer = nullptr;  // of the first, or null
  const Sweep* sweep = nullptr;        // of all others
  void* workspace = nullptr;           // the producer's
  size_t seen_within = SIZE_MAX;       // only the first so many links may see what this one makes
};

// How many of the first links go together with the same bytes wherever somebody looks. At least one.
ACL_FUNC_VISIBILITY size_t count_together(std::span<const Link> links);

// Runs links that count_together() has let through, all of them.
ACL_FUNC_VISIBILITY void run_together(std::span<const Link> links);

}  // namespace softnpu
