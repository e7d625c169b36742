#pragma once
// The functions that are called at random: a new one is one row.

#include <span>

#include "fuzz/draw.h"

namespace fuzz {

struct Row {
  const char* name;
  int weight;  // how often it is drawn, beside the others
  aclError (*call)(Draw& draw);
};

std::span<const Row> table();

}  // namespace fuzz
