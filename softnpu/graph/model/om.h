#pragma once
// Files of compiled models: the public header and table of partitions, and partitions of this project.
// Facts: mindspore-ai/graphengine (Apache-2.0), inc/framework/common/types.h. See PROVENANCE.md.

#include <optional>
#include <string>
#include <string_view>

#include "graph/ir/graph.h"
#include "graph/model/open_sizes.h"
#include "nnopbase/registry_call.h"

namespace softnpu::graph {

// What a file has: a graph of fixed sizes, a source, or the description of one operator.
struct CompiledModel {
  Graph graph;
  std::optional<Source> source;
  std::optional<RegistryCall> description;
};

std::string write_om(const CompiledModel& model);
// Constants refer to `bytes`, which `owner` keeps. A damaged file, one of CANN's own and one of another version are
// errors of one sentence.
Status read_om(std::string_view bytes, const std::shared_ptr<const void>& owner, CompiledModel* out);

}  // namespace softnpu::graph
