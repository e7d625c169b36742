#pragma once
// Options of ge:: as those of a compilation.

#include "base/border.h"
#include "base/text.h"
#include "ge/ir_build.h"
#include "graph/model/read_options.h"

namespace ge {

// Fails if a key is unknown, and names the known ones.
inline softnpu::Status read_options(const Options& options, softnpu::graph::CompileOptions* out) {
  for (const auto& [key, value] : options) {
    const std::string name = softnpu::graph::option_of_key(key.GetString());
    if (name.empty()) {
      std::string known;
      for (const std::string& one : softnpu::graph::option_keys()) known += (known.empty() ? "" : ", ") + one;
      return {ACL_ERROR_INVALID_PARAM,
              softnpu::text("the option ", key.GetString(), " is not implemented; there are ", known)};
    }
    SOFTNPU_RETURN_IF_ERROR(softnpu::graph::read_option(name, value.GetString(), out));
  }
  return softnpu::Status::ok();
}

// Runs `body` as the implementation of the function `name`.
template <typename Body>
graphStatus call(const char* name, Body&& body) {
  return softnpu::api(name, std::forward<Body>(body)) == ACL_SUCCESS ? kSuccess : kFailed;
}

}  // namespace ge
