#pragma once
// The functions to be called at random: a new one is one row.

#include <span>

#include "fuzz/draw.h"

namespace fuzz {

struct Row {
  const char* name;
  int weight;  // relative frequency
  aclError (*call)(Draw& draw);
};

std::span<const Row> table();

}  // namespace fuzz
