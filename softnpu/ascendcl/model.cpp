// Compiled models: loaded, run, unloaded.

#include "ascendcl/model.h"

#include <dlfcn.h>

#include <fstream>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_mdl.h"
#include "ascendcl/api.h"
#include "ascendcl/data_buffer.h"
#include "ascendcl/dataset.h"
#include "ascendcl/tensor_desc.h"
#include "base/no_destroy.h"
#include "base/text.h"
#include "runtime/config.h"

using softnpu::api;
using softnpu::LoadedModel;
using softnpu::require;
using softnpu::Status;
using softnpu::text;

namespace softnpu {

const softnpuGraphEngine* graph_engine() {
  static const softnpuGraphEngine* engine = [] {
    void* library = dlopen("libsoftnpu_graph.so", RTLD_NOW | RTLD_LOCAL);
    void* function = library == nullptr ? nullptr : dlsym(library, "softnpuGetGraphEngine");
    return function == nullptr ? nullptr : reinterpret_cast<decltype(&softnpuGetGraphEngine)>(function)();
  }();
  return engine;
}

Status require_graph_engine(const softnpuGraphEngine** out) {
  *out = graph_engine();
  if (*out != nullptr) return Status::ok();
  return {ACL_ERROR_INTERNAL_ERROR,
          "softnpu's libsoftnpu_graph.so, which runs models, does not load beside this library"};
}

Status engine_status(aclError code) {
  if (code == ACL_SUCCESS) return Status::ok();
  const char* reason = aclGetRecentErrMsg();
  return {code, reason == nullptr ? "the graph engine failed" : reason};
}

namespace {

struct Models {
  std::mutex mutex;
  uint32_t next = 1;
  std::map<uint32_t, std::shared_ptr<LoadedModel>> by_id;
};

Models& models() {
  static NoDestroy<Models> instance;
  return instance.get();
}

Status read_file(const char* path, std::vector<char>* out) {
  SOFTNPU_RETURN_IF_ERROR(require(path, "the path"));
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = file.is_open() ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size >= 0) {
    out->resize(static_cast<size_t>(size));
    file.seekg(0);
    file.read(out->data(), size);
  }
  if (size >= 0 && file.good()) return Status::ok();
  return {ACL_ERROR_INVALID_FILE, text("the model ", path, " cannot be read")};
}

Status load(const softnpuModelFile& file, softnpuModelMemory memory, uint32_t* id) {
  SOFTNPU_RETURN_IF_ERROR(require(file.data, "the model"));
  SOFTNPU_RETURN_IF_ERROR(require(id, "modelId"));
  const softnpuGraphEngine* engine = nullptr;
  SOFTNPU_RETURN_IF_ERROR(require_graph_engine(&engine));
  memory.isUnfused = config().fuse ? 0 : 1;
  softnpuModel* result = nullptr;
  SOFTNPU_RETURN_IF_ERROR(engine_status(engine->load(&file, &memory, &result)));
  auto model = std::make_shared<LoadedModel>(result);
  std::lock_guard lock(models().mutex);
  *id = models().next++;
  models().by_id[*id] = std::move(model);
  return Status::ok();
}

Status load_file(const char* path, const softnpuModelMemory& memory, uint32_t* id) {
  std::vector<char> bytes;
  SOFTNPU_RETURN_IF_ERROR(read_file(path, &bytes));
  const Status status = load({bytes.data(), bytes.size()}, memory, id);
  return status.is_ok() ? Status::ok() : Status(status.code(), text(path, ": ", status.message()), status.cause());
}

Status query(const softnpuModelFile& file, size_t* work, size_t* weights) {
  SOFTNPU_RETURN_IF_ERROR(require(file.data, "the model"));
  SOFTNPU_RETURN_IF_ERROR(require(work, "workSize"));
  SOFTNPU_RETURN_IF_ERROR(require(weights, "weightSize"));
  const softnpuGraphEngine* engine = nullptr;
  SOFTNPU_RETURN_IF_ERROR(require_graph_engine(&engine));
  return engine_status(engine->query(&file, work, weights));
}

Status buffers_of(const aclmdlDataset& dataset, std::vector<softnpuBuffer>* out) {
  for (const aclDataBuffer* one : dataset.buffers) {
    std::shared_ptr<aclDataBuffer> buffer;
    SOFTNPU_RETURN_IF_ERROR(data_buffers().find(one, &buffer));
    out->push_back({buffer->data, buffer->size});
  }
  return Status::ok();
}

// The sizes of the inputs: those of the dataset, else the fixed ones.
Status sizes_of(const LoadedModel& model, const aclmdlDataset& inputs, std::vector<std::vector<int64_t>>* out) {
  const softnpuGraphEngine* engine = graph_engine();
  const int64_t* entries = nullptr;
  size_t count = 0;
  size_t width = 0;
  engine->list(model.get(), &entries, &count, &width);
  const size_t own = engine->count(model.get(), 0) - (count > 0 ? 1 : 0);
  for (size_t i = 0; i < own; ++i) {
    if (i < inputs.sizes.size() && !inputs.sizes[i].empty()) {
      out->push_back(inputs.sizes[i]);
      continue;
    }
    softnpuModelTensor tensor;
    engine->describe(model.get(), 0, i, &tensor);
    out->emplace_back(tensor.dims, tensor.dims + tensor.rank);
  }
  return Status::ok();
}

// Describes the outputs of a run in their dataset.
void describe_output(void* state, size_t index, const softnpuModelTensor* tensor) {
  auto& dataset = *static_cast<aclmdlDataset*>(state);
  auto desc = std::make_shared<aclTensorDesc>();
  desc->dtype = tensor->dtype;
  desc->format = tensor->format;
  desc->dims.assign(tensor->dims, tensor->dims + tensor->rank);
  if (index < dataset.descs.size()) {
    (void)tensor_descs().remove(dataset.descs[index]);
    dataset.descs[index] = tensor_descs().add(std::move(desc));
  } else {
    dataset.descs.push_back(tensor_descs().add(std::move(desc)));
  }
}

Status run(uint32_t id, const aclmdlDataset* input, const aclmdlDataset* output, aclrtStream stream) {
  std::shared_ptr<LoadedModel> model;
  SOFTNPU_RETURN_IF_ERROR(find_model(id, &model));
  std::shared_ptr<aclmdlDataset> given;
  std::shared_ptr<aclmdlDataset> result;
  SOFTNPU_RETURN_IF_ERROR(datasets().find(input, &given));
  SOFTNPU_RETURN_IF_ERROR(datasets().find(output, &result));
  std::vector<softnpuBuffer> inputs;
  std::vector<softnpuBuffer> outputs;
  SOFTNPU_RETURN_IF_ERROR(buffers_of(*given, &inputs));
  SOFTNPU_RETURN_IF_ERROR(buffers_of(*result, &outputs));
  softnpuModelCall call{inputs.data(), inputs.size(), outputs.data(), outputs.size(), nullptr, 0, nullptr, nullptr};
  std::vector<std::vector<int64_t>> sizes;
  std::vector<softnpuSizes> views;
  if (graph_engine()->is_open(model->get()) != 0) {
    SOFTNPU_RETURN_IF_ERROR(sizes_of(*model, *given, &sizes));
    views = engine_sizes(sizes);
    call.sizes = views.data();
    call.sizeCount = views.size();
    call.report = &describe_output;
    call.state = result.get();
  }
  return engine_status(graph_engine()->run(model->get(), &call, stream));
}

// A null stream of aclmdlExecuteAsync is the context's default one.
Status run_async(uint32_t id, const aclmdlDataset* input, const aclmdlDataset* output, aclrtStream stream) {
  if (stream == nullptr) {
    Context* context = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().current(&context));
    stream = context->default_stream;
  }
  return run(id, input, output, stream);
}

}  // namespace

Status find_model(uint32_t id, std::shared_ptr<LoadedModel>* out) {
  std::lock_guard lock(models().mutex);
  const auto found = models().by_id.find(id);
  if (found == models().by_id.end()) {
    return {ACL_ERROR_INVALID_MODEL_ID, text("model ", id, " is not loaded: it was unloaded, or never loaded")};
  }
  *out = found->second;
  return Status::ok();
}

}  // namespace softnpu

aclError aclmdlLoadFromFile(const char* modelPath, uint32_t* modelId) {
  return api("aclmdlLoadFromFile", [&] { return softnpu::load_file(modelPath, {}, modelId); });
}

aclError aclmdlLoadFromFileWithMem(const char* modelPath, uint32_t* modelId, void* workPtr, size_t workSize,
                                   void* weightPtr, size_t weightSize) {
  return api("aclmdlLoadFromFileWithMem", [&] {
    return softnpu::load_file(modelPath, {{workPtr, workSize}, {weightPtr, weightSize}, 0}, modelId);
  });
}

aclError aclmdlLoadFromMem(const void* model, size_t modelSize, uint32_t* modelId) {
  return api("aclmdlLoadFromMem", [&] { return softnpu::load({model, modelSize}, {}, modelId); });
}

aclError aclmdlLoadFromMemWithMem(const void* model, size_t modelSize, uint32_t* modelId, void* workPtr,
                                  size_t workSize, void* weightPtr, size_t weightSize) {
  return api("aclmdlLoadFromMemWithMem", [&] {
    return softnpu::load({model, modelSize}, {{workPtr, workSize}, {weightPtr, weightSize}, 0}, modelId);
  });
}

aclError aclmdlQuerySize(const char* fileName, size_t* workSize, size_t* weightSize) {
  return api("aclmdlQuerySize", [&] {
    std::vector<char> bytes;
    SOFTNPU_RETURN_IF_ERROR(softnpu::read_file(fileName, &bytes));
    return softnpu::query({bytes.data(), bytes.size()}, workSize, weightSize);
  });
}

aclError aclmdlQuerySizeFromMem(const void* model, size_t modelSize, size_t* workSize, size_t* weightSize) {
  return api("aclmdlQuerySizeFromMem", [&] { return softnpu::query({model, modelSize}, workSize, weightSize); });
}

// Runs that were launched end first.
aclError aclmdlUnload(uint32_t modelId) {
  return api("aclmdlUnload", [&] {
    std::shared_ptr<LoadedModel> model;  // its last owner outside of the lock
    SOFTNPU_RETURN_IF_ERROR(softnpu::find_model(modelId, &model));
    std::lock_guard lock(softnpu::models().mutex);
    softnpu::models().by_id.erase(modelId);
    return Status::ok();
  });
}

aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output) {
  return api("aclmdlExecute", [&] { return softnpu::run(modelId, input, output, nullptr); });
}

aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output, aclrtStream stream) {
  return api("aclmdlExecuteAsync", [&] { return softnpu::run_async(modelId, input, output, stream); });
}
