// Streams that are captured into models, and replays of those.

#include <atomic>
#include <fstream>
#include <iostream>
#include <memory>
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
using softnpu::text;

namespace {

constexpr const char* kReplay = "aclmdlRIExecuteAsync";  // the name of a replay's task

// What an aclmdlRI names, from the begin of its capture on.
struct Model {
  std::shared_ptr<CapturedGraph> graph;
  uint64_t resets = 0;                // of the device, at the capture
  std::atomic<bool> is_ready{false};  // the capture has ended
};

softnpu::Handles<Model>& models() {
  static softnpu::NoDestroy<softnpu::Handles<Model>> instance("captured model");
  return instance.get();
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

// For the model of a capture that is over: it stays if the capture succeeded.
void forget_unfinished(void* handle) {
  std::shared_ptr<Model> model;
  if (models().find(handle, &model).is_ok() && !model->is_ready) (void)models().remove(handle);
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
  SOFTNPU_RETURN_IF_ERROR(stream.capture_steps(kReplay, make, graph->written(), &is_captured));
  if (is_captured) return Status::ok();
  std::shared_ptr<softnpu::Steps> replay;
  const uint64_t epoch = softnpu::WriteEpochs::now();
  SOFTNPU_RETURN_IF_ERROR(make(&replay));
  softnpu::raise_epochs(graph->written().data(), graph->written().size());
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
  const CapturedGraph& graph = *model->graph;
  if (graph.has_steps()) return execute_steps(model->graph, *target);
  const softnpu::TaskTraits traits{nullptr, softnpu::WriteEpochs::now(), graph.written()};
  softnpu::raise_epochs(graph.written().data(), graph.written().size());
  return target->submit(
      kReplay, graph.cost(), [graph = model->graph] { return graph->run(); }, traits);
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
    return models().remove(modelRI);
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
