#include "graph/model/loaded.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "graph/model/serialize.h"

namespace softnpu::graph {
namespace {

constexpr const char* kListInput = "ascend_mbatch_shape_data";  // ACL_DYNAMIC_TENSOR_NAME

std::vector<LoadedGraph::Tensor> tensors_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<LoadedGraph::Tensor> tensors;
  for (const ValueId id : ids) {
    const Value& value = graph.values[id];
    tensors.push_back({value.name, value.dtype, {value.dims.begin(), value.dims.end()}, byte_count(value)});
  }
  return tensors;
}

LoadedGraph::Tensor described(const OpenTensor& tensor) {
  const bool is_fixed = std::ranges::none_of(tensor.sizes, [](int64_t size) { return size < 0; });
  Value value;
  value.dtype = tensor.dtype;
  value.dims = Dims(tensor.sizes);
  return {tensor.name, tensor.dtype, tensor.sizes, is_fixed ? byte_count(value) : 0};
}

}  // namespace

Status LoadedGraph::query(const CompiledModel& model, size_t* work, size_t* weights) {
  *work = 0;
  *weights = 0;
  if (model.source.has_value()) return Status::ok();
  const MemoryPlan plan = plan_memory(model.graph);
  *work = plan.work_bytes;
  *weights = plan.weight_bytes;
  return Status::ok();
}

Status LoadedGraph::load(CompiledModel model, const Session::GivenMemory& memory, std::unique_ptr<LoadedGraph>* out) {
  auto loaded = std::make_unique<LoadedGraph>();
  loaded->source_ = std::move(model.source);
  loaded->fuses_ = memory.fuses;
  if (!loaded->has_open_sizes()) loaded->graph_ = std::make_shared<Graph>(std::move(model.graph));
  SOFTNPU_RETURN_IF_ERROR(loaded->open(memory));
  *out = std::move(loaded);
  return Status::ok();
}

Status LoadedGraph::open(const Session::GivenMemory& memory) {
  if (!has_open_sizes()) {
    std::unique_ptr<Session> session;
    SOFTNPU_RETURN_IF_ERROR(Session::create(graph_, memory, &session));
    sessions_.emplace_front(std::vector<Ints>(), std::move(session));
    inputs_ = tensors_of(*graph_, graph_->inputs);
    outputs_ = tensors_of(*graph_, graph_->outputs);
    return Status::ok();
  }
  SOFTNPU_RETURN_IF_ERROR(read_model(*source_, &model_));
  open_inputs_ = inputs_of(model_, *source_);
  for (const OpenTensor& input : open_inputs_) inputs_.push_back(described(input));
  for (const OpenTensor& output : outputs_of(model_, *source_)) outputs_.push_back(described(output));
  if (source_->list.empty()) return Status::ok();
  // Buffers that hold every entry's tensors.
  for (const Ints& entry : source_->list) {
    std::vector<Ints> sizes;
    std::shared_ptr<Session> session;
    SOFTNPU_RETURN_IF_ERROR(sizes_of(entry, &sizes));
    SOFTNPU_RETURN_IF_ERROR(this->session(sizes, &session));
    const Graph& graph = session->graph();
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      inputs_[i].bytes = std::max(inputs_[i].bytes, byte_count(graph.values[graph.inputs[i]]));
    }
    const std::vector<Tensor> outputs = tensors_of(graph, graph.outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].bytes >= outputs_[i].bytes) outputs_[i] = outputs[i];
    }
  }
  const auto count = static_cast<int64_t>(source_->list[0].size());
  inputs_.push_back({kListInput, ACL_INT64, {count}, static_cast<size_t>(count) * sizeof(int64_t)});
  return Status::ok();
}

const std::vector<Ints>& LoadedGraph::list() const {
  static const std::vector<Ints> kNone;
  return source_.has_value() ? source_->list : kNone;
}

Status LoadedGraph::sizes_of(const Ints& entry, std::vector<Ints>* out) const {
  if (std::ranges::find(list(), entry) == list().end()) {
    std::string known;
    for (const Ints& one : list()) {
      known += known.empty() ? "" : "; ";
      for (size_t i = 0; i < one.size(); ++i) known += text(i == 0 ? "" : ",", one[i]);
    }
    return {ACL_ERROR_INVALID_PARAM, text("these sizes are not in the list that the model was compiled with: ", known)};
  }
  return sizes_for(open_inputs_, source_->kind, entry, out);
}

void LoadedGraph::share_constants(Graph* graph) {
  std::erase_if(computed_, [](const auto& one) { return one.second.second.expired(); });
  for (Value& value : graph->values) {
    const bool is_source = value.bytes.owner == source_->onnx.owner;
    if (value.kind != ValueKind::kConstant || value.bytes.size == 0 || is_source) continue;
    const uint64_t hash = hash_of({value.bytes.data, value.bytes.size});
    const auto [first, last] = computed_.equal_range(hash);
    const auto equal = std::find_if(first, last, [&](const auto& one) {
      const Bytes& other = one.second.first;
      return other.size == value.bytes.size && std::memcmp(other.data, value.bytes.data, other.size) == 0;
    });
    if (equal == last) {
      computed_.emplace(hash, std::pair(Bytes{value.bytes.data, value.bytes.size, nullptr}, value.bytes.owner));
    } else if (auto owner = equal->second.second.lock()) {
      value.bytes = {equal->second.first.data, value.bytes.size, std::move(owner)};
    }
  }
}

Status LoadedGraph::session(const std::vector<Ints>& sizes, std::shared_ptr<Session>* out) {
  std::lock_guard lock(mutex_);
  if (!has_open_sizes()) {
    *out = sessions_.front().second;
    return Status::ok();
  }
  const auto found = std::ranges::find(sessions_, sizes, [](const auto& one) { return one.first; });
  if (found != sessions_.end()) {
    sessions_.splice(sessions_.begin(), sessions_, found);
  } else {
    auto graph = std::make_shared<Graph>();
    SOFTNPU_RETURN_IF_ERROR(lower(model_, *source_, open_inputs_, sizes, graph.get()));
    share_constants(graph.get());
    std::unique_ptr<Session> result;
    SOFTNPU_RETURN_IF_ERROR(Session::create(std::move(graph), {{}, {}, &constants_, fuses_}, &result));
    sessions_.emplace_front(sizes, std::move(result));
    if (sessions_.size() > kMaxSessions) {
      sessions_.pop_back();
      constants_.prune();
    }
  }
  *out = sessions_.front().second;
  return Status::ok();
}

}  // namespace softnpu::graph
