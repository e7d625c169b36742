#pragma once
// The functions of ge:: that compile graphs to models. All return kSuccess or kFailed; why one failed is in
// aclGetRecentErrMsg.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "ge/ascend_string.h"
#include "ge/graph.h"

namespace ge {

using graphStatus = uint32_t;
constexpr graphStatus kSuccess = 0;
constexpr graphStatus kFailed = 0xFFFFFFFF;

using Options = std::map<AscendString, AscendString>;

// A compiled model: the bytes of a .om.
struct ModelBufferData {
  std::shared_ptr<uint8_t> data;
  uint64_t length;
};

// Parses a serialized model of ONNX. Its tensors must be in it.
ACL_FUNC_VISIBILITY graphStatus aclgrphParseONNXFromMem(const char* buffer, size_t size, const Options& parser_params,
                                                        Graph& graph);

// Options of all builds that follow. A build works without them.
ACL_FUNC_VISIBILITY graphStatus aclgrphBuildInitialize(Options& global_options);
// Forgets them.
ACL_FUNC_VISIBILITY void aclgrphBuildFinalize();

// Compiles on the current device, or on device 0 if the thread has none.
ACL_FUNC_VISIBILITY graphStatus aclgrphBuildModel(const Graph& graph, const Options& build_options,
                                                  ModelBufferData& model);

// Writes a model to a file, whose name gets the ending .om if it does not have it.
ACL_FUNC_VISIBILITY graphStatus aclgrphSaveModel(const char* output_file, const ModelBufferData& model);

// The same for programs that pass std::string, of the ABI of C++11 or the one before.
ACL_FUNC_VISIBILITY graphStatus aclgrphBuildInitialize(std::map<std::string, std::string> global_options);
ACL_FUNC_VISIBILITY graphStatus aclgrphBuildModel(const Graph& graph,
                                                  const std::map<std::string, std::string>& build_options,
                                                  ModelBufferData& model);
ACL_FUNC_VISIBILITY graphStatus aclgrphSaveModel(const std::string& output_file, const ModelBufferData& model);

}  // namespace ge
