#pragma once
// A captured graph with the memory that it uses: torch.npu.NPUGraph and torch.accelerator.Graph.

#include <ATen/core/Generator.h>
#include <acl/acl_mdl.h>
#include <c10/core/Allocator.h>
#include <c10/core/Stream.h>

#include <memory>
#include <optional>
#include <string>

#include "core/capture.h"
#include "core/captured_generators.h"
#include "core/task_group.h"

namespace torch_npu {

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  // The capture, which begins later, may draw from `generator`. The default one of its device is registered by itself.
  void register_generator_state(const at::Generator& generator);
  // Captures the current stream, which is not the default one, until capture_end(). Its allocations come from `pool`,
  // a private one; {0, 0}: a pool of its own. Throws if a graph was captured already or is being captured.
  void capture_begin(c10::MempoolId_t pool, aclmdlRICaptureMode mode);
  // On the same stream. Throws why the capture failed, and leaves an empty graph then.
  void capture_end();
  // On the current stream of the device.
  void replay();
  // Forgets what was captured, and a capture in progress.
  void reset() noexcept;
  c10::MempoolId_t pool() const;
  // Writes the tasks to `path`, as JSON for chrome://tracing.
  void debug_dump(const std::string& path) const;

 private:
  void release_memory() noexcept;
  aclmdlRI require_model(const char* function) const;

  std::optional<c10::Stream> stream_;  // of the capture
  std::optional<OngoingCapture> ongoing_;
  c10::MempoolId_t pool_{0, 0};
  bool has_pool_ = false;
  aclmdlRI model_ = nullptr;
  std::shared_ptr<UpdateMemory> updates_;
  CapturedGenerators generators_;
};

// A pool that several graphs may share.
c10::MempoolId_t graph_pool_handle() noexcept;

}  // namespace torch_npu
