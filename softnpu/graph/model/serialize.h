#pragma once
// A graph as bytes: its structure, and the bytes of its constants one behind the other.

#include <string>
#include <string_view>

#include "graph/ir/graph.h"

namespace softnpu::graph {

struct Serialized {
  std::string structure;
  std::string constants;
};

Serialized serialize(const Graph& graph);
// Constants refer to `constants`, which `owner` keeps. An error if anything does not fit, whatever the bytes are.
Status deserialize(std::string_view structure, std::string_view constants, const std::shared_ptr<const void>& owner,
                   Graph* out);

// FNV-1a of 64 bits, over words of 8 bytes.
uint64_t hash_of(std::string_view bytes);

}  // namespace softnpu::graph
