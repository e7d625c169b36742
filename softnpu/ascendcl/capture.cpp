// Streams that are captured into models, and replays of those.

#include <atomic>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "acl/acl_mdl.h"
#include "ascendcl/api.h"
#include "ascendcl/written.h"
#include "base/handles.h"
#include "base/no_destroy.h"
#include "base/text.h"
#include "runtime/stream/capture/capture.h"
#include "runtime/stream/capture/graph.h"

using softnpu::api;
using softnpu::Capture;
using softnpu::CapturedGraph;
using softnpu::CapturedTask;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::Stream;
using softnpu::TaskGroup;
using softnpu::text;

namespace {

constexpr const char* kReplay = "aclmdlRIExecuteAsync";  // the name of a replay's task

// What an aclmdlRI names, from the begin of its capture on.
struct Model {
  std::shared_ptr<CapturedGraph> graph;
  uint64_t resets = 0;                // of the device, at the capture
  std::atomic<bool> is_ready{false};  // the capture has ended
  std::mutex mutex;                   // guards `groups` and changes of what the graph writes
  std::vector<std::shared_ptr<softnpu::TaskGroup>> groups;

  bool has_groups() {
    std::lock_guard lock(mutex);
    return !groups.empty();
  }
};

softnpu::Handles<Model>& models() {
  static softnpu::NoDestroy<softnpu::Handles<Model>> instance("captured model");
  return instance.get();
}

softnpu::Handles<softnpu::TaskGroup>& task_groups() {
  static softnpu::NoDestroy<softnpu::Handles<softnpu::TaskGroup>> instance("task group");
  return instance.get();
}

// Also the handles of its task groups.
Status remove_model(void* handle) {
  std::shared_ptr<Model> model;
  SOFTNPU_RETURN_IF_ERROR(models().find(handle, &model));
  std::lock_guard lock(model->mutex);
  for (const auto& group : model->groups) (void)task_groups().remove(group.get());
  return models().remove(handle);
}

Status check_mode(aclmdlRICaptureMode mode) {
  if (mode >= ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && mode <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM,
          text("the capture mode ", static_cast<int>(mode), " does not exist: it is 0, 1 or 2")};
}

// A model whose capture has ended.
Status find_ended(aclmdlRI handle, std::shared_ptr<Model>* out) {
  SOFTNPU_RETURN_IF_ERROR(models().find(handle, out));
  if ((*out)->is_ready) return Status::ok();
  return {ACL_ERROR_RT_MODEL_CAPTURED, text("model ", handle, " is still captured: end its capture first")};
}

// The same on a device that was not reset since.
Status find_ready(aclmdlRI handle, std::shared_ptr<Model>* out) {
  SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
  SOFTNPU_RETURN_IF_ERROR(find_ended(handle, out));
  const Model& model = **out;
  const softnpu::Device* device = Process::get().live_device(model.graph->device());
  if (device != nullptr && device->resets() == model.resets) return Status::ok();
  return {ACL_ERROR_RT_MODEL_CONTEXT,
          text("device ", model.graph->device(), " was reset after model ", handle, " had been captured on it")};
}

// The model of a task group, as find_ready() finds it.
Status find_ready(const TaskGroup& group, std::shared_ptr<Model>* out) {
  const std::shared_ptr<void> model = group.model.lock();  // keeps the handle from being another model's
  if (model != nullptr) return find_ready(model.get(), out);
  return {ACL_ERROR_RT_MODEL_CONTEXT, "the model of the task group was destroyed"};
}

// For the model of a capture that is over: it stays if the capture succeeded.
void forget_unfinished(void* handle) {
  std::shared_ptr<Model> model;
  if (models().find(handle, &model).is_ok() && !model->is_ready) (void)remove_model(handle);
}

Status begin(aclrtStream stream, aclmdlRICaptureMode mode) {
  SOFTNPU_RETURN_IF_ERROR(check_mode(mode));
  std::shared_ptr<Stream> target;
  SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
  softnpu::Context* context = nullptr;
  SOFTNPU_RETURN_IF_ERROR(Process::get().current(&context));
  if (target.get() == context->default_stream) {
    return {ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, "the default stream cannot be captured: create a stream"};
  }
  static std::atomic<uint32_t> next_id{1};
  auto model = std::make_shared<Model>();
  model->graph = std::make_shared<CapturedGraph>(next_id.fetch_add(1), target->device());
  model->resets = Process::get().live_device(target->device())->resets();
  const auto capture = std::make_shared<Capture>(model->graph, mode);
  SOFTNPU_RETURN_IF_ERROR(capture->begin(*target));
  capture->set_model({models().add(std::move(model)), forget_unfinished});
  return Status::ok();
}

Status find_capture(aclrtStream stream, std::shared_ptr<Stream>* target, std::shared_ptr<Capture>* capture) {
  SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, target));
  *capture = (*target)->capture();
  if (*capture != nullptr) return Status::ok();
  return {ACL_ERROR_RT_STREAM_NOT_CAPTURED,
          text("stream ", (*target)->id(), " of device ", (*target)->device(), " captures nothing")};
}

Status end(aclrtStream stream, aclmdlRI* out) {
  SOFTNPU_RETURN_IF_ERROR(require(out, "modelRI"));
  *out = nullptr;
  std::shared_ptr<Stream> target;
  std::shared_ptr<Capture> capture;
  SOFTNPU_RETURN_IF_ERROR(find_capture(stream, &target, &capture));
  if (capture->updates() != nullptr) {
    return {ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
            text("stream ", target->id(), " updates a task group: call aclmdlRICaptureTaskUpdateEnd")};
  }
  std::vector<CapturedTask> tasks;
  SOFTNPU_RETURN_IF_ERROR(capture->end(*target, &tasks));
  std::shared_ptr<Model> model;
  SOFTNPU_RETURN_IF_ERROR(models().find(capture->model(), &model));
  std::vector<softnpuRange> written;
  for (const CapturedTask& task : tasks) written.insert(written.end(), task.written.begin(), task.written.end());
  model->graph->instantiate(std::move(tasks), softnpu::merge_ranges(std::move(written)));
  model->is_ready = true;
  *out = capture->model();
  return Status::ok();
}

Status execute_steps(const std::shared_ptr<const CapturedGraph>& graph, Stream& stream) {
  bool is_captured = false;
  const auto make = [graph](std::shared_ptr<softnpu::Steps>* out) { return graph->make_replay(out); };
  const auto written = graph->written();
  SOFTNPU_RETURN_IF_ERROR(stream.capture_steps(kReplay, make, *written, &is_captured));
  if (is_captured) return Status::ok();
  std::shared_ptr<softnpu::Steps> replay;
  const uint64_t epoch = softnpu::WriteEpochs::now();
  SOFTNPU_RETURN_IF_ERROR(make(&replay));
  softnpu::raise_epochs(written->data(), written->size());
  return stream.submit_steps(kReplay, std::move(replay), epoch);
}

Status execute(aclmdlRI handle, aclrtStream stream) {
  std::shared_ptr<Model> model;
  SOFTNPU_RETURN_IF_ERROR(find_ready(handle, &model));
  std::shared_ptr<Stream> target;
  SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
  if (target->device() != model->graph->device()) {
    return {ACL_ERROR_RT_STREAM_CONTEXT, text("model ", handle, " was captured on device ", model->graph->device(),
                                              ": stream ", target->id(), " is one of device ", target->device())};
  }
  if (model->has_groups()) {
    // A captured replay announces what it writes once, and an update of the group changes that.
    SOFTNPU_RETURN_IF_ERROR(
        target->refuse_in_capture("a replay of a graph with task groups", "replay it before the capture or after it"));
  }
  const CapturedGraph& graph = *model->graph;
  if (graph.has_steps()) return execute_steps(model->graph, *target);
  const auto written = graph.written();
  const softnpu::TaskTraits traits{nullptr, softnpu::WriteEpochs::now(), *written};
  softnpu::raise_epochs(written->data(), written->size());
  return target->submit(
      kReplay, graph.cost(), [graph = model->graph] { return graph->run(); }, traits);
}

Status begin_group(aclrtStream stream) {
  std::shared_ptr<Stream> target;
  std::shared_ptr<Capture> capture;
  SOFTNPU_RETURN_IF_ERROR(find_capture(stream, &target, &capture));
  if (capture->updates() != nullptr) {
    return {ACL_ERROR_INVALID_PARAM,
            text("stream ", target->id(), " updates a task group: groups are begun in captures")};
  }
  return capture->begin_group(*target);
}

Status end_group(aclrtStream stream, aclrtTaskGrp* out) {
  SOFTNPU_RETURN_IF_ERROR(require(out, "handle"));
  *out = nullptr;
  std::shared_ptr<Stream> target;
  std::shared_ptr<Capture> capture;
  SOFTNPU_RETURN_IF_ERROR(find_capture(stream, &target, &capture));
  std::shared_ptr<Model> model;
  SOFTNPU_RETURN_IF_ERROR(models().find(capture->model(), &model));
  auto group = std::make_shared<TaskGroup>();
  group->model = model;
  SOFTNPU_RETURN_IF_ERROR(capture->end_group(*target, &group->tasks));
  std::lock_guard lock(model->mutex);
  model->groups.push_back(group);
  *out = task_groups().add(std::move(group));
  return Status::ok();
}

Status begin_update(aclrtStream stream, aclrtTaskGrp handle) {
  std::shared_ptr<Stream> target;
  SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
  std::shared_ptr<TaskGroup> group;
  SOFTNPU_RETURN_IF_ERROR(task_groups().find(handle, &group));
  std::shared_ptr<Model> model;
  SOFTNPU_RETURN_IF_ERROR(find_ready(*group, &model));
  if (model->graph->device() != target->device()) {
    return {ACL_ERROR_RT_STREAM_CONTEXT,
            text("the task group ", handle, " is of a model of device ", model->graph->device(), ": stream ",
                 target->id(), " is one of device ", target->device())};
  }
  const auto capture = std::make_shared<Capture>(std::make_shared<CapturedGraph>(0, target->device()),
                                                 ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  capture->set_updates(std::move(group));
  return capture->begin(*target);
}

// The new tasks are those of the group, in the same order.
Status check_update(const CapturedGraph& graph, const TaskGroup& group, const std::vector<CapturedTask>& updates) {
  if (updates.size() != group.tasks.size()) {
    return {ACL_ERROR_INVALID_PARAM,
            text("the update has ", updates.size(), " tasks, the task group ", group.tasks.size())};
  }
  for (size_t i = 0; i < updates.size(); ++i) {
    const CapturedTask& task = graph.tasks()[group.tasks[i]];
    if (task.make_steps != nullptr) {
      return {ACL_ERROR_INVALID_PARAM,
              text("task ", i, " of the task group, ", task.name, ", waits while it runs: such tasks are not updated")};
    }
    if (std::string_view(task.name) != updates[i].name || updates[i].make_steps != nullptr) {
      return {ACL_ERROR_INVALID_PARAM,
              text("task ", i, " of the update is ", updates[i].name, ", that of the task group ", task.name)};
    }
  }
  return Status::ok();
}

// What the work of an update's end needs; one pointer, since works are small.
struct Update {
  std::shared_ptr<CapturedGraph> graph;
  std::shared_ptr<const TaskGroup> group;
  std::vector<CapturedTask> tasks;
};

Status end_update(aclrtStream stream) {
  std::shared_ptr<Stream> target;
  std::shared_ptr<Capture> capture;
  SOFTNPU_RETURN_IF_ERROR(find_capture(stream, &target, &capture));
  auto update = std::make_shared<Update>();
  update->group = capture->updates();
  if (update->group == nullptr) {
    return {ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
            text("stream ", target->id(), " captures a model, not an update of a task group")};
  }
  SOFTNPU_RETURN_IF_ERROR(capture->end(*target, &update->tasks));
  std::shared_ptr<Model> model;
  SOFTNPU_RETURN_IF_ERROR(find_ready(*update->group, &model));
  update->graph = model->graph;
  SOFTNPU_RETURN_IF_ERROR(check_update(*update->graph, *update->group, update->tasks));
  {
    std::lock_guard lock(model->mutex);
    std::vector<softnpuRange> written = *update->graph->written();
    for (const CapturedTask& task : update->tasks) {
      written.insert(written.end(), task.written.begin(), task.written.end());
    }
    update->graph->set_written(softnpu::merge_ranges(std::move(written)));
  }
  return target->submit("aclmdlRICaptureTaskUpdateEnd", softnpu::Cost::kSmall,
                        [update] {
                          update->graph->update(update->group->tasks, std::move(update->tasks));
                          return Status::ok();
                        },
                        {});
}

Status write_trace(aclmdlRI handle, const char* path) {
  SOFTNPU_RETURN_IF_ERROR(require(path, "path"));
  std::shared_ptr<Model> model;
  SOFTNPU_RETURN_IF_ERROR(find_ready(handle, &model));
  std::ofstream out(path);
  out << model->graph->trace();
  out.close();
  if (out.good()) return Status::ok();
  return {ACL_ERROR_RT_FILE_WRITE, text("the graph cannot be written to ", path)};
}

}  // namespace

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  return api("aclmdlRICaptureBegin", [&] { return begin(stream, mode); });
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI) {
  return api("aclmdlRICaptureEnd", [&] { return end(stream, modelRI); });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* modelRI) {
  return api("aclmdlRICaptureGetInfo", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(status, "status"));
    SOFTNPU_RETURN_IF_ERROR(require(modelRI, "modelRI"));
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    const std::shared_ptr<Capture> capture = target->capture();
    *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    *modelRI = nullptr;
    if (capture == nullptr) return Status::ok();
    *status = capture->is_active() ? ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE : ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
    *modelRI = capture->model();
    return Status::ok();
  });
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
  return api("aclmdlRICaptureTaskGrpBegin", [&] { return begin_group(stream); });
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle) {
  return api("aclmdlRICaptureTaskGrpEnd", [&] { return end_group(stream, handle); });
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
  return api("aclmdlRICaptureTaskUpdateBegin", [&] { return begin_update(stream, handle); });
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
  return api("aclmdlRICaptureTaskUpdateEnd", [&] { return end_update(stream); });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  return api("aclmdlRICaptureThreadExchangeMode", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(mode, "mode"));
    SOFTNPU_RETURN_IF_ERROR(check_mode(*mode));
    *mode = softnpu::exchange_capture_mode(*mode);
    return Status::ok();
  });
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
  return api("aclmdlRIExecuteAsync", [&] { return execute(modelRI, stream); });
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  return api("aclmdlRIDestroy", [&]() -> Status {
    std::shared_ptr<Model> model;
    SOFTNPU_RETURN_IF_ERROR(find_ended(modelRI, &model));
    return remove_model(modelRI);
  });
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId) {
  return api("aclmdlRIGetId", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(modelRIId, "modelRIId"));
    std::shared_ptr<Model> model;
    SOFTNPU_RETURN_IF_ERROR(models().find(modelRI, &model));
    *modelRIId = model->graph->id();
    return Status::ok();
  });
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
  return api("aclmdlRIDebugPrint", [&] {
    std::shared_ptr<Model> model;
    SOFTNPU_RETURN_IF_ERROR(find_ready(modelRI, &model));
    std::cout << model->graph->describe() << std::flush;
    return Status::ok();
  });
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t flags) {
  return api("aclmdlRIDebugJsonPrint", [&]() -> Status {
    if (flags > 1) return {ACL_ERROR_INVALID_PARAM, text("the flags ", flags, ": they are 0 or 1")};
    return write_trace(modelRI, path);
  });
}
