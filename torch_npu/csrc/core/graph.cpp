#include "core/graph.h"

#include <ATen/core/GraphImplInterface.h>
#include <c10/util/Exception.h>

#include <utility>

#include "core/acl.h"
#include "core/allocator/host_allocator.h"
#include "core/allocator/mem_pool.h"
#include "core/device.h"
#include "core/generator.h"
#include "core/stream.h"
#include "core/task_queue.h"
#include "core/trace.h"

namespace torch_npu {
namespace {

// Graphs' own pools and those of graph_pool_handle() have ids of one sequence.
constexpr c10::MempoolId_t kNone{0, 0};

struct GraphImpl final : at::GraphImplInterface {
  explicit GraphImpl(const at::GraphImplArgs&) {}

  void capture_begin(c10::MempoolId_t pool, at::GraphCaptureMode mode) override {
    graph.capture_begin(pool, mode == at::GraphCaptureMode::Relaxed       ? ACL_MODEL_RI_CAPTURE_MODE_RELAXED
                              : mode == at::GraphCaptureMode::ThreadLocal ? ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL
                                                                          : ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
  }
  void capture_end() override { graph.capture_end(); }
  void instantiate() override {}  // the end of the capture does it
  void replay() override { graph.replay(); }
  void reset() override { graph.reset(); }
  c10::MempoolId_t pool() const override { return graph.pool(); }
  void enable_debug_mode() override {}  // a graph can be written at any time
  void debug_dump(const std::string& path) override { graph.debug_dump(path); }

  Graph graph;
};

}  // namespace
}  // namespace torch_npu

namespace at {
// By the name of the device type, which the package renames.
REGISTER_GRAPH_IMPL(NPU, torch_npu::GraphImpl)
}  // namespace at

namespace torch_npu {

Graph::~Graph() {
  if (!in_bad_fork()) reset();
}

void Graph::register_generator_state(const at::Generator& generator) { generators_.add(state_of(generator)); }

void Graph::capture_begin(c10::MempoolId_t pool, aclmdlRICaptureMode mode) {
  TORCH_CHECK(model_ == nullptr && !stream_.has_value(),
              "this graph was captured already: make a new one, or call reset() first");
  const c10::DeviceIndex device = current_device();
  bind_device(device);
  const c10::Stream stream = current_stream(device);
  TORCH_CHECK(stream != default_stream(device),
              "a graph is captured on a stream of its own, not on the default one: use torch.npu.graph, or capture ",
              "within torch.npu.stream(torch.npu.Stream())");
  register_generator_state(default_generator(device));
  const aclrtStream handle = runtime_handle(stream);
  pool_ = pool == kNone ? new_pool_id() : pool;
  use_pool(device, pool_, {});
  has_pool_ = true;
  aclmdlRI model = nullptr;
  const aclError code = aclmdlRICaptureBegin(handle, mode);
  if (code != ACL_SUCCESS) {
    release_memory();
    acl_check(code, "aclmdlRICaptureBegin");
  }
  stream_ = stream;
  ongoing_.emplace();
  model = capture_of(stream);
  generators_.begin(model);
  updates_ = UpdateMemory::create(device, pool_, model);
  begin_capture_to_pool(device, pool_,
                        [device, model](c10::StreamId id) { return capture_of(npu_stream(device, id)) == model; });
  host_allocator().begin_allocate_to_pool(pool_, [model](c10::Stream asking) { return capture_of(asking) == model; });
}

void Graph::capture_end() {
  TORCH_CHECK(stream_.has_value(), "capture_end() was called without a capture_begin()");
  const c10::DeviceIndex device = stream_->device_index();
  TORCH_CHECK(current_stream(device) == *stream_, "a capture ends on the stream on which it began");
  aclmdlRI model = nullptr;
  const aclError code = aclmdlRICaptureEnd(runtime_handle(*stream_), &model);
  generators_.end();
  ongoing_.reset();
  end_capture_to_pool(device, pool_);
  host_allocator().end_allocate_to_pool(pool_);
  if (code == ACL_SUCCESS) {
    model_ = model;
    return;
  }
  // Keeps the runtime's message, which releasing the pool may replace.
  const char* message = aclGetRecentErrMsg();
  const std::string reason = message == nullptr ? "aclmdlRICaptureEnd failed" : message;
  release_memory();
  stream_.reset();
  TORCH_CHECK(false, reason, error_tail("ERR00100", "PTA call acl api failed"));
}

aclmdlRI Graph::require_model(const char* function) const {
  TORCH_CHECK(model_ != nullptr, function, "() was called without a preceding successful capture");
  return model_;
}

void Graph::replay() {
  const aclmdlRI model = require_model("replay");
  const c10::DeviceIndex device = stream_->device_index();
  bind_device(device);
  const c10::Stream stream = current_stream(device);
  generators_.begin_replay(stream);
  {
    trace::Launch launch("aclmdlRIExecuteAsync", trace::Kind::kKernel, stream);
    acl_check(aclmdlRIExecuteAsync(model, Enqueue(stream).handle()), "aclmdlRIExecuteAsync");
  }
  generators_.end_replay(stream);
}

void Graph::release_memory() noexcept {
  updates_.reset();
  if (!std::exchange(has_pool_, false)) return;
  try {
    const c10::DeviceIndex device = stream_.has_value() ? stream_->device_index() : current_device();
    release_pool(device, pool_);
  } catch (const std::exception& e) {
    TORCH_WARN("the memory of a graph was not released: ", e.what());
  }
}

void Graph::reset() noexcept {
  try {
    if (ongoing_.has_value()) {  // the capture was not ended
      const c10::DeviceIndex device = stream_->device_index();
      aclmdlRI unfinished = nullptr;
      acl_warn(aclmdlRICaptureEnd(runtime_handle(*stream_), &unfinished), "aclmdlRICaptureEnd");
      generators_.end();
      ongoing_.reset();
      end_capture_to_pool(device, pool_);
      host_allocator().end_allocate_to_pool(pool_);
      model_ = unfinished;
    }
  } catch (const std::exception& e) {
    TORCH_WARN("a graph was not reset: ", e.what());
  }
  if (model_ != nullptr) acl_warn(aclmdlRIDestroy(std::exchange(model_, nullptr)), "aclmdlRIDestroy");
  release_memory();
  stream_.reset();
}

c10::MempoolId_t Graph::pool() const {
  (void)require_model("pool");
  return pool_;
}

void Graph::debug_dump(const std::string& path) const {
  acl_check(aclmdlRIDebugJsonPrint(require_model("debug_dump"), path.c_str(), 1), "aclmdlRIDebugJsonPrint");
}

c10::MempoolId_t graph_pool_handle() noexcept { return new_pool_id(); }

}  // namespace torch_npu
