#pragma once
// Files of compiled models: the public header and table of partitions, and partitions of this project.
// Facts: mindspore-ai/graphengine (Apache-2.0), inc/framework/common/types.h. See PROVENANCE.md.

#include <string>
#include <string_view>

#include "graph/ir/graph.h"

namespace softnpu::graph {

std::string write_om(const Graph& graph);
// Constants refer to `bytes`, which `owner` keeps. A damaged file, one of CANN's own and one of another version are
// errors of one sentence.
Status read_om(std::string_view bytes, std::shared_ptr<const void> owner, Graph* out);

}  // namespace softnpu::graph
