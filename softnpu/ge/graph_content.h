#pragma once
// What a graph has.

#include <string>

#include "graph/model/compile.h"

namespace ge {

struct GraphContent {
  std::string name;
  std::string onnx;  // a serialized model
  softnpu::graph::CompileOptions options;
};

}  // namespace ge
