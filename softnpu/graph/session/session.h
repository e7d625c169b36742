#pragma once
// A graph that is ready to run: its weights and its plans in memory.

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "acl/acl_rt.h"
#include "graph/ir/graph.h"
#include "graph/session/device_memory.h"
#include "graph/session/memory_plan.h"
#include "graph/session/shared_constants.h"
#include "nnopbase/launch_template.h"
#include "nnopbase/registry_call.h"

namespace softnpu::graph {

// A range of the caller's device memory.
struct Buffer {
  void* data = nullptr;
  size_t bytes = 0;
};

class Session {
 public:
  // Memory of the caller, used instead of the session's own if it is given; constants that other sessions have as well.
  struct GivenMemory {
    Buffer work;
    Buffer weights;
    SharedConstants* shared = nullptr;
    bool fuses = true;  // consecutive operators may run as one task
  };

  // Needs a current device. Copies the constants to it and runs the nodes that depend on nothing else. Nodes that
  // depend on parameters, too, run in the first run, and in each before which a parameter of theirs was written.
  static Status create(std::shared_ptr<const Graph> graph, const GivenMemory& given, std::unique_ptr<Session>* out);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  const Graph& graph() const { return *graph_; }

  // Launches the graph on `stream`, null for the session's own. Runs of one session follow each other, also on several
  // streams. Buffers may be larger than their values.
  Status run(std::span<const Buffer> inputs, std::span<const Buffer> outputs, aclrtStream stream);
  // Waits for what was launched on the session's own stream.
  Status wait();
  // Plans every node for inputs and outputs in some memory: fails where a run would.
  Status try_plan();

 private:
  // A node that runs at each run.
  struct Step {
    const Node* node;
    std::shared_ptr<const CompiledOperator> compiled;
    std::shared_ptr<const LaunchTemplate> planned;  // null: bound, and not planned yet
    bool is_bound = false;                          // inputs or outputs of the graph are among its operands
    size_t last_reader = SIZE_MAX;  // the last step that reads its result; SIZE_MAX where it is read after the run
  };
  // Consecutive steps that run as one task.
  struct Task {
    size_t first;
    size_t count;
    std::shared_ptr<const LaunchTemplate> planned;
    bool is_bound;
  };

  Session(std::shared_ptr<const Graph> graph, MemoryPlan memory);

  Status allocate(const GivenMemory& given);
  Status upload();
  Status add_step(const Node& node, Step* step);
  Status run_prologue();
  // Launches the nodes that depend on parameters if one was written since the last time.
  Status refresh(aclrtStream stream);
  void fill(const Node& node, RegistryCall* call) const;
  void fill_tensor(ValueId id, RegistryTensor* tensor) const;
  void* address(ValueId id) const;
  bool is_bound(const Node& node) const;
  Status plan(const Step& step, Plan* plan) const;
  Status check_buffers(std::span<const Buffer> buffers, const std::vector<ValueId>& ids, const char* kind) const;
  void find_last_readers();
  // Plans the bound steps for the buffers of a run, and fuses what may be fused.
  Status bind(std::span<const Buffer> inputs, std::span<const Buffer> outputs);
  // Plans bound steps of [first, first + count) and appends their tasks.
  Status add_tasks(size_t first, size_t count, std::vector<Task>* tasks);

  std::shared_ptr<const Graph> graph_;
  MemoryPlan memory_;
  std::vector<bool> channels_last_;  // of each value
  DeviceMemory own_work_;
  DeviceMemory own_weights_;
  std::vector<std::shared_ptr<DeviceMemory>> shared_;
  char* work_ = nullptr;
  char* weights_ = nullptr;
  std::vector<Step> steps_;
  std::vector<Step> refreshed_;  // the nodes of the prologue that depend on parameters
  std::vector<Buffer> watched_;  // the parameters that these read
  bool fuses_ = true;
  aclrtStream own_stream_ = nullptr;
  aclrtEvent last_run_ = nullptr;

  std::mutex running_;             // guards what follows
  std::optional<uint64_t> epoch_;  // of the newest write to a watched parameter at the last refresh
  aclrtStream last_stream_ = nullptr;
  std::vector<Task> tasks_;  // for the buffers of the last run
  std::vector<Buffer> inputs_;
  std::vector<Buffer> outputs_;
};

}  // namespace softnpu::graph
