// Graphs become models.

#include <cstring>
#include <mutex>
#include <utility>

#include "ge/graph_content.h"
#include "ge/ir_build.h"
#include "ge/options.h"

namespace ge {
namespace {

struct Globals {
  std::mutex mutex;
  Options options;
};

Globals& globals() {
  static Globals instance;
  return instance;
}

Options global_options() {
  const std::lock_guard lock(globals().mutex);
  return globals().options;
}

}  // namespace

graphStatus aclgrphBuildInitialize(Options& given) {
  return call("aclgrphBuildInitialize", [&] {
    softnpu::graph::CompileOptions checked;
    SOFTNPU_RETURN_IF_ERROR(read_options(given, &checked));
    const std::lock_guard lock(globals().mutex);
    globals().options = given;
    return softnpu::Status::ok();
  });
}

void aclgrphBuildFinalize() {
  softnpu::guarded([] {
    const std::lock_guard lock(globals().mutex);
    globals().options.clear();
  });
}

graphStatus aclgrphBuildModel(const Graph& graph, const Options& build_options, ModelBufferData& model) {
  return call("aclgrphBuildModel", [&] {
    if (graph.content() == nullptr || graph.content()->onnx.empty()) {
      return softnpu::Status(ACL_ERROR_INVALID_PARAM, "the graph is empty: parse a model into it first");
    }
    softnpu::graph::CompileOptions options = graph.content()->options;
    SOFTNPU_RETURN_IF_ERROR(read_options(global_options(), &options));
    SOFTNPU_RETURN_IF_ERROR(read_options(build_options, &options));
    options.model = "graph " + graph.content()->name;
    softnpu::graph::CompileReport report;
    std::string om;
    SOFTNPU_RETURN_IF_ERROR(softnpu::graph::compile_model_bytes(graph.content()->onnx, options, &report, &om));
    const std::shared_ptr<uint8_t[]> bytes = std::make_shared<uint8_t[]>(om.size());
    std::memcpy(bytes.get(), om.data(), om.size());
    model = {{bytes, bytes.get()}, om.size()};
    return softnpu::Status::ok();
  });
}

}  // namespace ge
