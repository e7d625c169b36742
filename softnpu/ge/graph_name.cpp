// Compiled for both ABIs of std::string.

#include "ge/graph.h"

namespace ge {

Graph::Graph(const std::string& name) : Graph(name.c_str()) {}

}  // namespace ge
