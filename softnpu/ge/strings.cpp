// The functions with std::string. This file is compiled for both of its ABIs and passes no string on.

#include "ge/ir_build.h"

namespace ge {
namespace {

Options converted(const std::map<std::string, std::string>& options) {
  Options result;
  for (const auto& [key, value] : options) result.emplace(key.c_str(), value.c_str());
  return result;
}

}  // namespace

graphStatus aclgrphBuildInitialize(std::map<std::string, std::string> global_options) {
  Options options = converted(global_options);
  return aclgrphBuildInitialize(options);
}

graphStatus aclgrphBuildModel(const Graph& graph, const std::map<std::string, std::string>& build_options,
                              ModelBufferData& model) {
  return aclgrphBuildModel(graph, converted(build_options), model);
}

graphStatus aclgrphSaveModel(const std::string& output_file, const ModelBufferData& model) {
  return aclgrphSaveModel(output_file.c_str(), model);
}

}  // namespace ge
