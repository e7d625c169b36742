// The functions that libascendcl calls.

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/border.h"
#include "graph/model/compile.h"
#include "graph/model/om.h"
#include "graph/session/session.h"
#include "softnpu/graph.h"

using softnpu::api;
using softnpu::Status;
using softnpu::graph::Buffer;
using softnpu::graph::Graph;
using softnpu::graph::Session;
using softnpu::graph::ValueId;

struct softnpuModel {
  std::shared_ptr<const Graph> graph;
  std::unique_ptr<Session> session;
};

namespace {

std::string_view bytes_of(const softnpuModelFile& file) { return {static_cast<const char*>(file.data), file.bytes}; }

aclError query(const softnpuModelFile* file, size_t* work, size_t* weights) {
  return api("aclmdlQuerySize", [&] {
    Graph graph;
    SOFTNPU_RETURN_IF_ERROR(softnpu::graph::read_om(bytes_of(*file), nullptr, &graph));
    const softnpu::graph::MemoryPlan plan = softnpu::graph::plan_memory(graph);
    *work = plan.work_bytes;
    *weights = plan.weight_bytes;
    return Status::ok();
  });
}

aclError load(const softnpuModelFile* file, const softnpuModelMemory* memory, softnpuModel** out) {
  return api("aclmdlLoad", [&] {
    auto bytes = std::make_shared<std::vector<char>>(file->bytes);
    if (file->bytes > 0) std::memcpy(bytes->data(), file->data, file->bytes);
    const std::string_view own(bytes->data(), bytes->size());
    auto graph = std::make_shared<Graph>();
    SOFTNPU_RETURN_IF_ERROR(softnpu::graph::read_om(own, bytes, graph.get()));
    auto model = std::make_unique<softnpuModel>();
    const Session::GivenMemory given{{memory->work.data, memory->work.bytes},
                                     {memory->weights.data, memory->weights.bytes}};
    SOFTNPU_RETURN_IF_ERROR(Session::create(graph, given, &model->session));
    model->graph = std::move(graph);
    *out = model.release();
    return Status::ok();
  });
}

void unload(softnpuModel* model) { std::unique_ptr<softnpuModel>(model).reset(); }

const std::vector<ValueId>& tensors(const softnpuModel* model, int32_t is_output) {
  return is_output != 0 ? model->graph->outputs : model->graph->inputs;
}

size_t count(const softnpuModel* model, int32_t is_output) { return tensors(model, is_output).size(); }

void describe(const softnpuModel* model, int32_t is_output, size_t index, softnpuModelTensor* out) {
  const softnpu::graph::Value& value = model->graph->values[tensors(model, is_output)[index]];
  const bool is_image = value.dims.size() == 4;
  *out = {value.name.c_str(), value.dtype,       is_image ? ACL_FORMAT_NCHW : ACL_FORMAT_ND,
          value.dims.data(),  value.dims.size(), softnpu::graph::byte_count(value)};
}

std::vector<Buffer> buffers(const softnpuBuffer* first, size_t count) {
  std::vector<Buffer> made;
  for (const softnpuBuffer& one : std::span(first, count)) made.push_back({one.data, one.bytes});
  return made;
}

aclError run(softnpuModel* model, const softnpuBuffer* inputs, size_t input_count, const softnpuBuffer* outputs,
             size_t output_count, aclrtStream stream) {
  return api("aclmdlExecute", [&] {
    SOFTNPU_RETURN_IF_ERROR(model->session->run(buffers(inputs, input_count), buffers(outputs, output_count), stream));
    return stream == nullptr ? model->session->wait() : Status::ok();
  });
}

}  // namespace

const softnpuGraphEngine* softnpuGetGraphEngine() {
  static const softnpuGraphEngine engine = {&query, &load, &unload, &count, &describe, &run};
  return &engine;
}

aclError softnpuCompileModel(const softnpuModelFile* onnx, softnpuModelFile* compiled) {
  return api("softnpuCompileModel", [&] {
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(onnx, "onnx"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(compiled, "compiled"));
    std::string bytes;
    SOFTNPU_RETURN_IF_ERROR(softnpu::graph::compile_bytes(onnx->data, onnx->bytes, &bytes));
    auto copy = std::make_unique<char[]>(bytes.size());
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    *compiled = {copy.release(), bytes.size()};
    return Status::ok();
  });
}

void softnpuReleaseModelFile(const softnpuModelFile* compiled) {
  std::unique_ptr<const char[]>(static_cast<const char*>(compiled->data)).reset();
}
