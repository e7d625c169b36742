#pragma once
// Tasks of a captured graph that are replaced later: torch.npu.graph_task_group_begin() and its companions.

#include <acl/acl_mdl.h>
#include <c10/core/Stream.h>

namespace torch_npu {

// Names a group. Valid as long as the graph.
struct TaskGroup {
  aclrtTaskGrp handle = nullptr;
};

// The tasks of `stream`, which is captured, are a group until its end.
void begin_task_group(c10::Stream stream);
TaskGroup end_task_group(c10::Stream stream);

// Tasks that `stream` gets until end_task_update() replace those of `group`, after the work enqueued on it so far.
void begin_task_update(c10::Stream stream, const TaskGroup& group);
void end_task_update(c10::Stream stream);

}  // namespace torch_npu
