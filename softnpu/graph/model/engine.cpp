// The functions that libascendcl calls.

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/border.h"
#include "graph/model/buffers.h"
#include "graph/model/compile.h"
#include "graph/model/description.h"
#include "graph/model/loaded.h"
#include "softnpu/graph.h"

struct softnpuModel {
  std::unique_ptr<softnpu::graph::LoadedGraph> graph;
  std::vector<int64_t> list;  // the entries one behind the other
};

namespace softnpu::graph {
namespace {

softnpuModelTensor tensor_of(const LoadedGraph::Tensor& tensor) {
  return {tensor.name.c_str(), tensor.dtype,        tensor.sizes.size() == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_ND,
          tensor.sizes.data(), tensor.sizes.size(), tensor.bytes};
}

Status read(const softnpuModelFile& file, CompiledModel* out) {
  auto bytes = std::make_shared<std::vector<char>>(file.bytes);
  if (file.bytes > 0) std::memcpy(bytes->data(), file.data, file.bytes);
  const std::string_view own(bytes->data(), bytes->size());
  SOFTNPU_RETURN_IF_ERROR(read_om(own, std::move(bytes), out));
  return out->description.has_value() ? graph_of(*out->description, &out->graph) : Status::ok();
}

aclError query(const softnpuModelFile* file, size_t* work, size_t* weights) {
  return api("aclmdlQuerySize", [&] {
    CompiledModel model;
    SOFTNPU_RETURN_IF_ERROR(read(*file, &model));
    return LoadedGraph::query(model, work, weights);
  });
}

aclError load(const softnpuModelFile* file, const softnpuModelMemory* memory, softnpuModel** out) {
  return api("aclmdlLoad", [&] {
    CompiledModel compiled;
    SOFTNPU_RETURN_IF_ERROR(read(*file, &compiled));
    auto model = std::make_unique<softnpuModel>();
    const Session::GivenMemory given{{memory->work.data, memory->work.bytes},
                                     {memory->weights.data, memory->weights.bytes},
                                     nullptr,
                                     memory->isUnfused == 0};
    SOFTNPU_RETURN_IF_ERROR(LoadedGraph::load(std::move(compiled), given, &model->graph));
    for (const Ints& entry : model->graph->list()) model->list.insert(model->list.end(), entry.begin(), entry.end());
    *out = model.release();
    return Status::ok();
  });
}

void unload(softnpuModel* model) { std::unique_ptr<softnpuModel>(model).reset(); }

const std::vector<LoadedGraph::Tensor>& tensors(const softnpuModel* model, int32_t is_output) {
  return is_output != 0 ? model->graph->outputs() : model->graph->inputs();
}

size_t count(const softnpuModel* model, int32_t is_output) { return tensors(model, is_output).size(); }

void describe(const softnpuModel* model, int32_t is_output, size_t index, softnpuModelTensor* out) {
  *out = tensor_of(tensors(model, is_output)[index]);
}

// The session of a call; reports its outputs.
Status find_session(softnpuModel* model, const softnpuModelCall& call, std::shared_ptr<Session>* out) {
  std::vector<Ints> sizes;
  for (const softnpuSizes& one : std::span(call.sizes, call.sizeCount)) sizes.push_back(sizes_of(one));
  SOFTNPU_RETURN_IF_ERROR(model->graph->session(sizes, out));
  if (call.report == nullptr) return Status::ok();
  const Graph& graph = (*out)->graph();
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Value& value = graph.values[graph.outputs[i]];
    const LoadedGraph::Tensor output{
        value.name, value.dtype, {value.dims.begin(), value.dims.end()}, byte_count(value)};
    const softnpuModelTensor tensor = tensor_of(output);
    call.report(call.state, i, &tensor);
  }
  return Status::ok();
}

aclError run(softnpuModel* model, const softnpuModelCall* call, aclrtStream stream) {
  return api("aclmdlExecute", [&] {
    std::shared_ptr<Session> session;
    SOFTNPU_RETURN_IF_ERROR(find_session(model, *call, &session));
    // The list's own input has no part in the run.
    const size_t inputs = call->inputCount - (model->list.empty() || call->inputCount == 0 ? 0 : 1);
    SOFTNPU_RETURN_IF_ERROR(
        session->run(buffers(call->inputs, inputs), buffers(call->outputs, call->outputCount), stream));
    return stream == nullptr ? session->wait() : Status::ok();
  });
}

aclError resolve(softnpuModel* model, const softnpuModelCall* call) {
  return api("aclmdlGetCurOutputDims", [&] {
    std::shared_ptr<Session> session;
    return find_session(model, *call, &session);
  });
}

int32_t list(const softnpuModel* model, const int64_t** entries, size_t* count, size_t* width) {
  *entries = model->list.data();
  *count = model->graph->list().size();
  *width = *count == 0 ? 0 : model->list.size() / *count;
  return static_cast<int32_t>(model->graph->list_kind());
}

aclError sizes(softnpuModel* model, const int64_t* entry, size_t width,
               void (*report)(void* state, size_t index, const softnpuSizes* sizes), void* state) {
  return api("aclmdlSetInputDynamicDims", [&] {
    std::vector<Ints> found;
    SOFTNPU_RETURN_IF_ERROR(model->graph->sizes_of({entry, entry + width}, &found));
    for (size_t i = 0; i < found.size(); ++i) {
      const softnpuSizes one{found[i].data(), found[i].size()};
      report(state, i, &one);
    }
    return Status::ok();
  });
}

int32_t is_open(const softnpuModel* model) { return model->graph->has_open_sizes() ? 1 : 0; }

constexpr softnpuGraphEngine kEngine = {&query, &load,    &unload, &count, &describe,
                                        &run,   &resolve, &list,   &sizes, &is_open};

}  // namespace
}  // namespace softnpu::graph

const softnpuGraphEngine* softnpuGetGraphEngine() { return &softnpu::graph::kEngine; }

aclError softnpuCompileModel(const softnpuModelFile* onnx, softnpuModelFile* compiled) {
  return softnpu::api("softnpuCompileModel", [&] {
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(onnx, "onnx"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(compiled, "compiled"));
    std::string bytes;
    SOFTNPU_RETURN_IF_ERROR(softnpu::graph::compile_bytes(onnx->data, onnx->bytes, &bytes));
    auto copy = std::make_unique<char[]>(bytes.size());
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    *compiled = {copy.release(), bytes.size()};
    return softnpu::Status::ok();
  });
}

void softnpuReleaseModelFile(const softnpuModelFile* compiled) {
  std::unique_ptr<const char[]>(static_cast<const char*>(compiled->data)).reset();
}
