#pragma once
// Models as text, for atc's modes that compile nothing.

#include <string>

#include "base/status.h"

namespace softnpu::graph {

// A compiled model: its name, format, memory, inputs and outputs, a line each.
ACL_FUNC_VISIBILITY Status describe_compiled(const std::string& path, std::string* text);
// A compiled model, or one of ONNX (the file's name decides), as JSON: inputs, outputs and nodes.
ACL_FUNC_VISIBILITY Status model_as_json(const std::string& path, std::string* json);
// Whether each operator of a model of ONNX is implemented, as JSON. `is_complete`: all are.
ACL_FUNC_VISIBILITY Status check_model(const std::string& path, std::string* json, bool* is_complete);

}  // namespace softnpu::graph
