#pragma once
// Tasks of a captured graph that the program replaces between replays, such as an operator with other host arguments.

#include <cstdint>
#include <memory>
#include <vector>

namespace softnpu {

class CapturedGraph;

struct TaskGroup {
  std::weak_ptr<CapturedGraph> graph;
  std::vector<uint32_t> tasks;  // their numbers in the graph
};

}  // namespace softnpu
