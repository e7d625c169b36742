#include "core/built_graph.h"

#include <acl/acl.h>
#include <dlfcn.h>
#include <softnpu/graph_builder.h>

#include "core/acl.h"
#include "core/aclnn_argument.h"
#include "core/bound_library.h"
#include "core/device.h"
#include "core/format.h"
#include "core/stream.h"
#include "core/trace.h"

namespace torch_npu {
namespace {

const softnpuGraphBuilder& builder() {
  static const softnpuGraphBuilder* found = [] {
    const bool is_softnpu = bound_symbol("softnpuVersion") != nullptr;
    // In the package beside the folder of the bound libraries.
    void* library = is_softnpu ? bound_library("../libsoftnpu_graph.so") : nullptr;
    void* function = library == nullptr ? nullptr : dlsym(library, "softnpuGetGraphBuilder");
    return function == nullptr ? nullptr : reinterpret_cast<decltype(&softnpuGetGraphBuilder)>(function)();
  }();
  TORCH_CHECK(found != nullptr,
              "the graph engine is softnpu's: the bound CANN is another one, or libsoftnpu_graph.so does not load");
  return *found;
}

// A ValueError with the engine's sentence: it does not take what it was given.
void check(aclError code) {
  if (C10_LIKELY(code == ACL_SUCCESS)) return;
  const char* reason = aclGetRecentErrMsg();
  TORCH_CHECK_VALUE(false, reason == nullptr ? "the graph engine failed" : reason);
}

softnpuBuffer bytes_at(const at::Tensor& tensor, c10::DeviceIndex device, bool is_written) {
  TORCH_CHECK_VALUE(tensor.is_privateuseone() && tensor.device().index() == device && tensor.is_contiguous(),
                    "the graph is for contiguous tensors on ", npu_device(device), ", not one on ", tensor.device(),
                    " of sizes ", tensor.sizes(), " and strides ", tensor.strides());
  c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  void* base = is_written ? mutable_bytes_of(storage, BytesLayout::kPlain)
                          : const_cast<void*>(bytes_of(storage, BytesLayout::kPlain));
  if (tensor.numel() == 0) return {base, 0};
  return {static_cast<char*>(base) + static_cast<std::size_t>(tensor.storage_offset()) * tensor.itemsize(),
          tensor.nbytes()};
}

aclDataType dtype_of(const at::Tensor& tensor) {
  const aclDataType dtype = acl_data_type(tensor.scalar_type());
  TORCH_CHECK_VALUE(dtype != ACL_DT_UNDEFINED && !c10::isFloat8Type(tensor.scalar_type()),
                    "the graph engine does not have the data type ", tensor.scalar_type());
  return dtype;
}

softnpuGraphAttribute attribute_of(const std::string& name, const GraphAttribute& value) {
  softnpuGraphAttribute one{};
  one.name = name.c_str();
  one.kind = static_cast<int32_t>(value.index());  // the variant's types are in the order of the kinds
  if (const auto* truth = std::get_if<bool>(&value)) one.integer = *truth ? 1 : 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) one.integer = *integer;
  if (const auto* real = std::get_if<double>(&value)) one.real = *real;
  if (const auto* words = std::get_if<std::string>(&value)) one.words = words->c_str();
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    one.list = list->data();
    one.count = list->size();
  }
  return one;
}

}  // namespace

BuiltGraph::BuiltGraph(c10::DeviceIndex device) : device_(checked_device(device)) {
  bind_device(device_);
  check(builder().create(&graph_));
}

BuiltGraph::~BuiltGraph() {
  if (!in_bad_fork()) builder().destroy(graph_);
}

int BuiltGraph::add_value(const at::Tensor& tensor, Kind kind) {
  bind_device(device_);
  softnpuBuffer bytes{nullptr, 0};
  if (kind == Kind::kParameter) bytes = bytes_at(tensor, device_, false);
  if (kind == Kind::kConstant) {
    TORCH_CHECK_VALUE(tensor.is_cpu() && tensor.is_contiguous(), "a constant is a contiguous tensor on the CPU");
    bytes = {const_cast<void*>(plain_data(tensor)), tensor.nbytes()};
  }
  const softnpuGraphValue value{
      static_cast<int32_t>(kind), dtype_of(tensor), {tensor.sizes().data(), tensor.sizes().size()}, bytes};
  int32_t id = 0;
  check(builder().addValue(graph_, &value, &id));
  return id;
}

int BuiltGraph::view(int value, const std::vector<std::int64_t>& sizes) {
  bind_device(device_);
  const softnpuSizes given{sizes.data(), sizes.size()};
  int32_t id = 0;
  check(builder().addView(graph_, value, &given, &id));
  return id;
}

std::vector<int> BuiltGraph::node(const std::string& type, const std::string& name,
                                  const std::vector<std::pair<int, bool>>& operands,
                                  const std::vector<std::pair<std::string, GraphAttribute>>& attributes) {
  bind_device(device_);
  std::vector<softnpuGraphOperand> inputs;
  inputs.reserve(operands.size());
  for (const auto& [value, on_host] : operands) inputs.push_back({value, on_host ? 1 : 0});
  std::vector<softnpuGraphAttribute> given;
  given.reserve(attributes.size());
  for (const auto& [key, value] : attributes) given.push_back(attribute_of(key, value));
  const softnpuGraphNode node{type.c_str(), name.c_str(), inputs.data(), inputs.size(), given.data(), given.size()};
  std::vector<int> results;
  const auto report = [](void* state, int32_t id) { static_cast<std::vector<int>*>(state)->push_back(id); };
  check(builder().addNode(graph_, &node, report, &results));
  return results;
}

std::pair<int, std::vector<std::int64_t>> BuiltGraph::describe(int value) const {
  softnpuModelTensor tensor{};
  check(builder().describe(graph_, value, &tensor));
  return {static_cast<int>(tensor.dtype), {tensor.dims, tensor.dims + tensor.rank}};
}

void BuiltGraph::compile(const std::vector<int>& outputs) {
  bind_device(device_);
  const std::vector<int32_t> ids(outputs.begin(), outputs.end());
  check(builder().compile(graph_, ids.data(), ids.size(), 0));
}

void BuiltGraph::run(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs) {
  bind_device(device_);
  std::vector<softnpuBuffer> in;
  std::vector<softnpuBuffer> out;
  in.reserve(inputs.size());
  out.reserve(outputs.size());
  for (const at::Tensor& one : inputs) in.push_back(bytes_at(one, device_, false));
  for (const at::Tensor& one : outputs) out.push_back(bytes_at(one, device_, true));
  const c10::Stream stream = current_stream(device_);
  const Enqueue enqueue(stream);
  const trace::Launch traced("npugraph_ex", trace::Kind::kKernel, stream);
  check(builder().run(graph_, in.data(), in.size(), out.data(), out.size(), enqueue.handle()));
}

std::string BuiltGraph::print() const { return builder().print(graph_); }

GraphMemory BuiltGraph::memory() const {
  softnpuGraphMemory found{};
  builder().memory(graph_, &found);
  return {found.work, found.weights, found.parameters};
}

}  // namespace torch_npu
