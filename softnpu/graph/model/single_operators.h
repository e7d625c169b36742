#pragma once
// Compiles a list of operators in JSON to one .om for each: what atc --singleop does.

#include <string>
#include <vector>

#include "base/status.h"

namespace softnpu::graph {

// `path`: a list of {"op", "input_desc", "output_desc", "attr"}. Writes into `folder`, which is created; the names of
// the files are the operators' numbers, types and descriptions. Nothing is written if any operator is wrong.
ACL_FUNC_VISIBILITY Status compile_operators(const std::string& path, const std::string& folder,
                                             std::vector<std::string>* files);

}  // namespace softnpu::graph
