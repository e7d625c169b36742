#pragma once
// The options of a compilation as texts: those of the program atc, and the keys that ge:: has for them.

#include <string>
#include <vector>

#include "graph/model/compile.h"

namespace softnpu::graph {

// The options' names, sorted.
ACL_FUNC_VISIBILITY std::vector<std::string> compile_options();
// Reads one of `compile_options`.
ACL_FUNC_VISIBILITY Status read_option(const std::string& name, const std::string& value, CompileOptions* out);

// The option that a key of ge:: names, "ge.exec.precision_mode"; "" if there is none.
ACL_FUNC_VISIBILITY std::string option_of_key(const std::string& key);
ACL_FUNC_VISIBILITY std::vector<std::string> option_keys();

}  // namespace softnpu::graph
