#include "graph/onnxruntime/compiled.h"

#include <algorithm>

#include "acl/acl.h"
#include "base/text.h"
#include "graph/lower/import.h"
#include "graph/passes/passes.h"

namespace softnpu::graph::ort {

void use_device() {
  static const aclError initialized = aclInit(nullptr);
  if (initialized != ACL_ERROR_REPEAT_INITIALIZE) throw_if(status_of(initialized));
  thread_local const aclError is_set = aclrtSetDevice(0);
  throw_if(status_of(is_set));
}

std::unique_ptr<Session> compile(const onnx::Model& model) {
  auto graph = std::make_shared<Graph>();
  throw_if(import_model(model, {}, graph.get()));
  throw_if(run_passes({}, graph.get()));
  for (size_t i = 0; i < graph->outputs.size(); ++i) {
    const Value& value = graph->values[graph->outputs[i]];
    const onnx::ValueInfo& wanted = model.graph.outputs[i];
    const bool is_open = std::ranges::any_of(wanted.dims, [](int64_t size) { return size < 0; });
    const bool has_sizes = is_open || !wanted.has_shape || std::ranges::equal(value.dims, wanted.dims);
    if (!wanted.is_tensor || value.dtype != onnx::dtype_of(wanted.dtype) || !has_sizes) {
      throw Failure(text("its output ", wanted.name, " has another type or other sizes in ONNX Runtime"));
    }
  }
  std::unique_ptr<Session> session;
  throw_if(Session::create(graph, {}, &session));
  throw_if(session->try_plan());
  return session;
}

CompiledNode::CompiledNode(const Api& api, std::unique_ptr<Session> session, std::vector<size_t> inputs)
    : OrtNodeComputeInfo{}, api_(api), numbers_(std::move(inputs)), session_(std::move(session)) {
  version = kApiVersion;
  create_state = [](OrtNodeComputeInfo* self, OrtNodeComputeContext*, void** state) -> OrtStatus* {
    *state = self;
    return nullptr;
  };
  compute = [](OrtNodeComputeInfo* self, void*, OrtKernelContext* context) -> OrtStatus* {
    auto* node = static_cast<CompiledNode*>(self);
    return node->api_.guarded([&] { node->run(context); });
  };
  release_state = [](OrtNodeComputeInfo*, void*) {};
  const auto allocate = [&](const std::vector<ValueId>& ids, std::vector<Buffer>* buffers) {
    for (const ValueId id : ids) {
      const size_t bytes = std::max<size_t>(byte_count(session_->graph().values[id]), 64);
      throw_if(memory_.emplace_back().allocate(bytes));
      buffers->push_back({memory_.back().data(), bytes});
    }
  };
  allocate(session_->graph().inputs, &inputs_);
  allocate(session_->graph().outputs, &outputs_);
}

CompiledNode::~CompiledNode() {
  try {
    use_device();
  } catch (const Failure&) {
    (void)session_.release();  // the device is gone, and its memory with it
  }
}

void CompiledNode::run(OrtKernelContext* context) {
  use_device();
  const std::lock_guard lock(running_);
  const Graph& graph = session_->graph();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const OrtValue* value = nullptr;
    api_.check(api_(kernel_input)(context, numbers_[i], &value));
    const Value& wanted = graph.values[graph.inputs[i]];
    const size_t bytes = api_.get(tensor_bytes, value);
    if (bytes != byte_count(wanted)) {
      throw Failure(
          text("the input ", wanted.name, " has ", bytes, " bytes, where the compiled graph has ", byte_count(wanted)));
    }
    if (bytes == 0) continue;
    throw_if(status_of(aclrtMemcpy(inputs_[i].data, inputs_[i].bytes, api_.get(tensor_data, value), bytes,
                                   ACL_MEMCPY_HOST_TO_DEVICE)));
  }
  throw_if(session_->run(inputs_, outputs_, nullptr));
  throw_if(session_->wait());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Value& value = graph.values[graph.outputs[i]];
    const std::vector<int64_t> sizes(value.dims.begin(), value.dims.end());
    OrtValue* out = nullptr;
    api_.check(api_(kernel_output)(context, i, sizes.data(), sizes.size(), &out));
    const size_t bytes = byte_count(value);
    if (bytes == 0) continue;
    throw_if(status_of(aclrtMemcpy(api_.get(get_tensor_mutable_data, out), bytes, outputs_[i].data, bytes,
                                   ACL_MEMCPY_DEVICE_TO_HOST)));
  }
}

}  // namespace softnpu::graph::ort
