#include "graph/session/session.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "graph/session/image_layouts.h"
#include "graph/session/operators.h"
#include "nnopbase/fused_plan.h"
#include "nnopbase/launch_planned.h"
#include "softnpu/memory_events.h"

namespace softnpu::graph {
namespace {

using Region = Placement::Region;

Status at_node(const Node& node, const Status& status) {
  if (status.is_ok()) return Status::ok();
  return {status.code(), text("node ", node.name, " (", node.type, "): ", status.message()), status.cause()};
}

void set_sizes(const Value& value, bool has_channels_last, aclTensor* tensor) {
  tensor->dims = value.dims;
  tensor->storage_dims = value.dims;
  tensor->dtype = value.dtype;
  tensor->format = ACL_FORMAT_ND;
  tensor->strides = Dims(value.dims.size());
  // Unsigned: of a value without elements they may not fit, and address nothing.
  uint64_t stride = 1;
  const auto add = [&](size_t i) {
    tensor->strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max<int64_t>(value.dims[i], 1));
  };
  if (has_channels_last) {
    for (const size_t i : {1, 3, 2, 0}) add(i);
    return;
  }
  for (size_t i = value.dims.size(); i-- > 0;) add(i);
}

// What a run may write to a value without elements.
constexpr size_t kMinBytes = 64;

}  // namespace

Session::Session(std::shared_ptr<const Graph> graph, MemoryPlan memory)
    : graph_(std::move(graph)), memory_(std::move(memory)), channels_last_(values_with_channels_last(*graph_)) {}

Session::~Session() {
  if (own_stream_ != nullptr) (void)aclrtSynchronizeStream(own_stream_);
  if (last_run_ != nullptr) {
    (void)aclrtSynchronizeEvent(last_run_);
    (void)aclrtDestroyEvent(last_run_);
  }
  if (own_stream_ != nullptr) (void)aclrtDestroyStream(own_stream_);
}

Status Session::create(std::shared_ptr<const Graph> graph, const GivenMemory& given, std::unique_ptr<Session>* out) {
  SOFTNPU_RETURN_IF_ERROR(check(*graph));
  MemoryPlan memory = plan_memory(*graph, given.shared != nullptr);
  std::unique_ptr<Session> session(new Session(std::move(graph), std::move(memory)));
  session->fuses_ = given.fuses;
  SOFTNPU_RETURN_IF_ERROR(status_of(aclrtCreateStream(&session->own_stream_)));
  SOFTNPU_RETURN_IF_ERROR(status_of(aclrtCreateEvent(&session->last_run_)));
  SOFTNPU_RETURN_IF_ERROR(session->allocate(given));
  SOFTNPU_RETURN_IF_ERROR(session->upload());
  SOFTNPU_RETURN_IF_ERROR(session->run_prologue());
  for (size_t i = 0; i < session->graph_->nodes.size(); ++i) {
    const Node& node = session->graph_->nodes[i];
    if (session->memory_.is_prologue[i]) continue;
    Step step;
    SOFTNPU_RETURN_IF_ERROR(at_node(node, session->add_step(node, &step)));
    session->steps_.push_back(std::move(step));
  }
  session->find_last_readers();
  *out = std::move(session);
  return Status::ok();
}

Status Session::allocate(const GivenMemory& given) {
  const auto take = [](const char* what, const Buffer& from, size_t needed, DeviceMemory* own, char** out) -> Status {
    if (from.data == nullptr) {
      SOFTNPU_RETURN_IF_ERROR(own->allocate(needed));
      *out = own->data();
      return Status::ok();
    }
    if (from.bytes < needed) {
      return {ACL_ERROR_INVALID_PARAM, text("the ", what, " memory has ", from.bytes, " bytes, where ", needed,
                                            " are needed (aclmdlQuerySize)")};
    }
    *out = static_cast<char*>(from.data);
    return Status::ok();
  };
  for (const ValueId id : memory_.shared) {
    SOFTNPU_RETURN_IF_ERROR(given.shared->find(graph_->values[id].bytes, &shared_.emplace_back()));
  }
  SOFTNPU_RETURN_IF_ERROR(take("work", given.work, memory_.work_bytes, &own_work_, &work_));
  return take("weight", given.weights, memory_.weight_bytes, &own_weights_, &weights_);
}

Status Session::upload() {
  for (size_t i = 0; i < graph_->values.size(); ++i) {
    const Value& value = graph_->values[i];
    const Placement& placement = memory_.placements[i];
    if (value.kind != ValueKind::kConstant || placement.region != Region::kWeights || value.bytes.size == 0) continue;
    SOFTNPU_RETURN_IF_ERROR(status_of(aclrtMemcpy(weights_ + placement.offset, value.bytes.size, value.bytes.data,
                                                  value.bytes.size, ACL_MEMCPY_HOST_TO_DEVICE)));
  }
  return Status::ok();
}

void* Session::address(ValueId id) const {
  const Placement& placement = memory_.placements[id];
  switch (placement.region) {
    case Region::kWeights: return weights_ + placement.offset;
    case Region::kShared: return shared_[placement.offset]->data();
    case Region::kWork: return work_ + placement.offset;
    case Region::kParameter: return const_cast<char*>(graph_->values[graph_->root(id)].bytes.data);
    case Region::kInput: return placement.offset < inputs_.size() ? inputs_[placement.offset].data : nullptr;
    case Region::kOutput: return placement.offset < outputs_.size() ? outputs_[placement.offset].data : nullptr;
    case Region::kNone: break;
  }
  return nullptr;
}

bool Session::is_bound(const Node& node) const {
  const auto is_of_caller = [&](ValueId id) {
    return id != kNoValue && memory_.placements[id].region >= Region::kInput;
  };
  return std::ranges::any_of(node.inputs, is_of_caller, &Operand::value) ||
         std::ranges::any_of(node.outputs, is_of_caller);
}

void Session::fill_tensor(ValueId id, RegistryTensor* tensor) const {
  set_sizes(graph_->values[id], channels_last_[static_cast<size_t>(id)], &tensor->tensor);
  tensor->name = graph_->values[id].name;
  tensor->is_given = true;
  tensor->tensor.data = address(id);
}

void Session::fill(const Node& node, RegistryCall* call) const {
  call->type = node.type;
  call->attributes = node.attributes;
  for (const Operand& input : node.inputs) {
    RegistryTensor& tensor = call->inputs.emplace_back();
    if (input.value == kNoValue) continue;
    fill_tensor(input.value, &tensor);
    if (!input.on_host) continue;
    const Bytes& bytes = graph_->values[graph_->root(input.value)].bytes;
    tensor.host.assign(bytes.data, bytes.data + bytes.size);
    tensor.tensor.data = nullptr;
  }
  for (const ValueId id : node.outputs) fill_tensor(id, &call->outputs.emplace_back());
}

Status Session::add_step(const Node& node, Step* step) {
  step->node = &node;
  RegistryCall call;
  fill(node, &call);
  SOFTNPU_RETURN_IF_ERROR(compile(call, &step->compiled));
  step->is_bound = is_bound(node);
  if (step->is_bound) return Status::ok();
  auto planned = std::make_shared<LaunchTemplate>(LaunchTemplate{step->compiled->name(), {}});
  SOFTNPU_RETURN_IF_ERROR(plan(*step, &planned->plan));
  planned->tensors = take_call_tensors(planned->op);
  step->planned = std::move(planned);
  return Status::ok();
}

Status Session::plan(const Step& step, Plan* plan) const {
  std::vector<void*> operands;
  for (const Operand& input : step.node->inputs) {
    operands.push_back(input.value == kNoValue || input.on_host ? nullptr : address(input.value));
  }
  for (const ValueId id : step.node->outputs) operands.push_back(address(id));
  SOFTNPU_RETURN_IF_ERROR(step.compiled->rebind(operands, plan));
  if (plan->sizes.empty()) return Status::ok();
  return {ACL_ERROR_OP_UNSUPPORTED_DYNAMIC, "the sizes of its results depend on data"};
}

void Session::find_last_readers() {
  std::vector<size_t> last(graph_->values.size(), 0);
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (const Operand& input : steps_[i].node->inputs) {
      if (input.value != kNoValue) last[graph_->root(input.value)] = i;
    }
    for (const ValueId id : steps_[i].node->outputs) last[graph_->root(id)] = i;
  }
  for (Step& step : steps_) {
    if (step.node->outputs.size() != 1) continue;
    const ValueId root = graph_->root(step.node->outputs[0]);
    if (memory_.placements[root].region == Region::kWork) step.last_reader = last[root];
  }
}

Status Session::add_tasks(size_t first, size_t count, std::vector<Task>* tasks) {
  std::vector<std::shared_ptr<const LaunchTemplate>> plans;
  for (size_t i = first; i < first + count; ++i) {
    Step& step = steps_[i];
    if (step.is_bound) {
      auto planned = std::make_shared<LaunchTemplate>(LaunchTemplate{step.compiled->name(), {}});
      SOFTNPU_RETURN_IF_ERROR(at_node(*step.node, plan(step, &planned->plan)));
      step.planned = std::move(planned);
    }
    plans.push_back(step.planned);
  }
  for (size_t begin = 0; begin < count;) {
    FusedPlan fused;
    if (fuses_) {
      std::vector<size_t> readers;
      for (size_t i = begin; i < std::min(count, begin + kMaxFusedPlans); ++i) {
        const size_t last = steps_[first + i].last_reader;
        readers.push_back(last == SIZE_MAX ? SIZE_MAX : last - first - begin);
      }
      SOFTNPU_RETURN_IF_ERROR(fuse_plans(std::span(plans).subspan(begin), readers, &fused));
    }
    bool is_bound = false;
    for (size_t i = begin; i < begin + fused.count; ++i) is_bound |= steps_[first + i].is_bound;
    if (fused.planned == nullptr) fused.planned = plans[begin];
    tasks->push_back({first + begin, fused.count, std::move(fused.planned), is_bound});
    begin += fused.count;
  }
  return Status::ok();
}

Status Session::bind(std::span<const Buffer> inputs, std::span<const Buffer> outputs) {
  const auto is_same = [](const Buffer& a, const Buffer& b) { return a.data == b.data; };
  if (!tasks_.empty() && std::ranges::equal(inputs_, inputs, is_same) &&
      std::ranges::equal(outputs_, outputs, is_same)) {
    return Status::ok();
  }
  inputs_.assign(inputs.begin(), inputs.end());
  outputs_.assign(outputs.begin(), outputs.end());
  std::vector<Task> before = std::move(tasks_);
  tasks_.clear();  // stays empty after an error: the next run binds again
  std::vector<Task> tasks;
  if (before.empty()) {
    SOFTNPU_RETURN_IF_ERROR(add_tasks(0, steps_.size(), &tasks));
  }
  for (size_t i = 0; i < before.size();) {
    if (!before[i].is_bound) {
      tasks.push_back(std::move(before[i++]));
      continue;
    }
    const size_t first = before[i].first;
    size_t count = 0;
    for (; i < before.size() && before[i].is_bound; ++i) count += before[i].count;
    SOFTNPU_RETURN_IF_ERROR(add_tasks(first, count, &tasks));
  }
  tasks_ = std::move(tasks);
  return Status::ok();
}

Status Session::run_prologue() {
  bool is_empty = true;
  for (size_t i = 0; i < graph_->nodes.size(); ++i) {
    if (!memory_.is_prologue[i]) continue;
    const Node& node = graph_->nodes[i];
    Step step;
    SOFTNPU_RETURN_IF_ERROR(at_node(node, add_step(node, &step)));
    if (memory_.reads_parameters[i]) {
      refreshed_.push_back(std::move(step));
      for (const Operand& input : node.inputs) {
        if (input.value == kNoValue || memory_.placements[input.value].region != Region::kParameter) continue;
        const Bytes& bytes = graph_->values[graph_->root(input.value)].bytes;
        watched_.push_back({const_cast<char*>(bytes.data), bytes.size});
      }
      continue;
    }
    SOFTNPU_RETURN_IF_ERROR(at_node(node, launch_planned(step.planned, own_stream_)));
    is_empty = false;
  }
  return is_empty ? Status::ok() : status_of(aclrtSynchronizeStream(own_stream_));
}

Status Session::refresh(aclrtStream stream) {
  if (refreshed_.empty()) return Status::ok();
  uint64_t newest = 0;
  for (const Buffer& one : watched_) newest = std::max(newest, softnpuLastWriteEpoch(one.data, one.bytes));
  if (epoch_ == newest && newest != UINT64_MAX) return Status::ok();  // UINT64_MAX: it is unknown
  epoch_.reset();                                                     // stays unknown after an error
  for (const Step& step : refreshed_) {
    SOFTNPU_RETURN_IF_ERROR(at_node(*step.node, launch_planned(step.planned, stream)));
  }
  epoch_ = newest;
  return Status::ok();
}

Status Session::check_buffers(std::span<const Buffer> buffers, const std::vector<ValueId>& ids,
                              const char* kind) const {
  if (buffers.size() != ids.size()) {
    return {ACL_ERROR_INVALID_PARAM, text(buffers.size(), " ", kind, "s, where the model has ", ids.size())};
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    const Value& value = graph_->values[ids[i]];
    if (buffers[i].bytes >= byte_count(value)) continue;
    return {ACL_ERROR_INVALID_PARAM, text("the buffer of ", kind, " ", i, " (", value.name, ") has ", buffers[i].bytes,
                                          " bytes, where ", byte_count(value), " are needed")};
  }
  return Status::ok();
}

Status Session::run(std::span<const Buffer> inputs, std::span<const Buffer> outputs, aclrtStream stream) {
  SOFTNPU_RETURN_IF_ERROR(check_buffers(inputs, graph_->inputs, "input"));
  SOFTNPU_RETURN_IF_ERROR(check_buffers(outputs, graph_->outputs, "output"));
  if (stream == nullptr) stream = own_stream_;
  std::lock_guard lock(running_);
  if (last_stream_ != nullptr && last_stream_ != stream) {
    SOFTNPU_RETURN_IF_ERROR(status_of(aclrtStreamWaitEvent(stream, last_run_)));
  }
  last_stream_ = stream;
  SOFTNPU_RETURN_IF_ERROR(refresh(stream));
  SOFTNPU_RETURN_IF_ERROR(bind(inputs, outputs));
  for (const Task& task : tasks_) {
    SOFTNPU_RETURN_IF_ERROR(at_node(*steps_[task.first].node, launch_planned(task.planned, stream)));
  }
  return status_of(aclrtRecordEvent(last_run_, stream));
}

Status Session::wait() { return status_of(aclrtSynchronizeStream(own_stream_)); }

Status Session::try_plan() {
  size_t most = kMinBytes;
  for (const ValueId id : graph_->inputs) most = std::max(most, byte_count(graph_->values[id]));
  for (const ValueId id : graph_->outputs) most = std::max(most, byte_count(graph_->values[id]));
  DeviceMemory in;
  DeviceMemory out;
  SOFTNPU_RETURN_IF_ERROR(in.allocate(most));
  SOFTNPU_RETURN_IF_ERROR(out.allocate(most));
  std::lock_guard lock(running_);
  const std::vector<Buffer> inputs(graph_->inputs.size(), {in.data(), most});
  const std::vector<Buffer> outputs(graph_->outputs.size(), {out.data(), most});
  const Status status = bind(inputs, outputs);
  tasks_.clear();
  return status;
}

}  // namespace softnpu::graph
