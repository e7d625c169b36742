#pragma once
// Tasks of a captured graph that are replaced later: torch.npu.graph_task_group_begin() and its companions.

#include <acl/acl_mdl.h>
#include <c10/core/Allocator.h>
#include <c10/core/Stream.h>

#include <memory>
#include <mutex>
#include <set>

namespace torch_npu {

// The memory that updates of a graph's task groups allocate. It is reserved as long as the graph, whose replays write
// it. Apart from the capture's own, of which the graph may use any part while a group runs.
class UpdateMemory {
 public:
  // Of the graph that becomes `model` and has the private pool `graph`.
  static std::shared_ptr<UpdateMemory> create(c10::DeviceIndex device, c10::MempoolId_t graph, aclmdlRI model);
  UpdateMemory(const UpdateMemory&) = delete;
  UpdateMemory& operator=(const UpdateMemory&) = delete;
  ~UpdateMemory();

  // What was created for the live graph `model`; null if there is none.
  static std::shared_ptr<UpdateMemory> of(aclmdlRI model);

  // The pool for updates, made on the stream `updating`, of groups of the stream `captured`. Such updates take turns,
  // and such groups run one after the other, so that they share what they free. Graphs with one pool have one here.
  c10::MempoolId_t pool(c10::StreamId captured, c10::StreamId updating);

 private:
  UpdateMemory(c10::DeviceIndex device, c10::MempoolId_t graph, aclmdlRI model)
      : device_(device), graph_(graph), model_(model) {}

  const c10::DeviceIndex device_;
  const c10::MempoolId_t graph_;
  const aclmdlRI model_;
  std::mutex mutex_;  // guards pools_
  std::set<c10::MempoolId_t> pools_;
};

// Names a group. Valid as long as the graph.
struct TaskGroup {
  aclrtTaskGrp handle = nullptr;
  c10::StreamId stream = 0;  // of its capture
  std::weak_ptr<UpdateMemory> memory;
};

// The tasks of `stream`, which is captured, are a group until its end.
void begin_task_group(c10::Stream stream);
TaskGroup end_task_group(c10::Stream stream);

// Tasks that `stream` gets until end_task_update() replace those of `group`, after the work enqueued on it so far.
// What is allocated on it meanwhile, by any thread, is the graph's memory.
void begin_task_update(c10::Stream stream, const TaskGroup& group);
void end_task_update(c10::Stream stream);

}  // namespace torch_npu
