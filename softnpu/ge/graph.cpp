#include "ge/graph.h"

#include "ge/graph_content.h"

namespace ge {

Graph::Graph(const char* name)
    : content_(std::make_shared<const GraphContent>(GraphContent{name == nullptr ? "" : name, {}, {}})) {}

}  // namespace ge
