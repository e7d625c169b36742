// Models of ONNX.

#include <utility>

#include "ge/graph_content.h"
#include "ge/ir_build.h"
#include "ge/options.h"

namespace ge {

graphStatus aclgrphParseONNXFromMem(const char* buffer, size_t size, const Options& parser_params, Graph& graph) {
  return call("aclgrphParseONNXFromMem", [&] {
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(buffer, "buffer"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::graph::check_model_bytes({buffer, size}));
    auto content = std::make_shared<GraphContent>();
    if (graph.content() != nullptr) content->name = graph.content()->name;
    content->onnx.assign(buffer, size);
    SOFTNPU_RETURN_IF_ERROR(read_options(parser_params, &content->options));
    graph.set_content(std::move(content));
    return softnpu::Status::ok();
  });
}

}  // namespace ge
