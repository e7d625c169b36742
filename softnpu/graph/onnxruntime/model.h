#pragma once
// Graphs and nodes of ONNX Runtime as models of ONNX.

#include "graph/onnx/model.h"
#include "graph/onnxruntime/api.h"

namespace softnpu::graph::ort {

// The newest opset of ai.onnx whose operators are implemented.
constexpr int64_t kNewestOpset = 23;

std::string name_of(const Api& api, const OrtValueInfo* value);

// The nodes as a model with these outputs; names that no node makes are its inputs, or constants where they are
// constant initializers, whose bytes are ONNX Runtime's unless `copies`. Throws Failure with the reason why it is none.
onnx::Model model_of(const Api& api, const OrtGraph* graph, const std::vector<const OrtNode*>& nodes,
                     const std::vector<const OrtValueInfo*>& outputs, bool copies);

}  // namespace softnpu::graph::ort
