#pragma once
// Tasks of a captured graph that the program replaces between replays, such as an operator with other host arguments.

#include <cstdint>
#include <memory>
#include <vector>

namespace softnpu {

struct TaskGroup {
  std::weak_ptr<void> model;    // what the program knows the graph as
  std::vector<uint32_t> tasks;  // their numbers in the graph
};

}  // namespace softnpu
