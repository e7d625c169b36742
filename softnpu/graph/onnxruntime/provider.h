#pragma once
// The execution provider of a session: which nodes it takes, and their compilation.

#include <functional>

#include "graph/onnxruntime/api.h"

namespace softnpu::graph::ort {

constexpr const char* kProviderName = "AscendExecutionProvider";

class Provider : public OrtEp {
 public:
  // Throws Failure for an option that is not known.
  Provider(const Api& api, const OrtSessionOptions* options, const OrtLogger* logger);

 private:
  void read_options(const OrtSessionOptions* options);
  void take_nodes(const OrtGraph* graph, OrtEpGraphSupportInfo* support) const;
  // Empty: the engine runs the node.
  std::string reason_against(const OrtGraph* graph, const OrtNode* node) const;
  void log(int severity, const std::string& message) const;

  Api api_;
  const OrtLogger* logger_;
  bool explains_ = false;
};

}  // namespace softnpu::graph::ort
