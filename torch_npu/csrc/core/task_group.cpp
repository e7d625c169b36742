#include "core/task_group.h"

#include "core/acl.h"
#include "core/stream.h"
#include "core/task_queue.h"

namespace torch_npu {

void begin_task_group(c10::Stream stream) {
  acl_check(aclmdlRICaptureTaskGrpBegin(Enqueue(stream).handle()), "aclmdlRICaptureTaskGrpBegin");
}

TaskGroup end_task_group(c10::Stream stream) {
  TaskGroup group;
  acl_check(aclmdlRICaptureTaskGrpEnd(Enqueue(stream).handle(), &group.handle), "aclmdlRICaptureTaskGrpEnd");
  return group;
}

void begin_task_update(c10::Stream stream, const TaskGroup& group) {
  acl_check(aclmdlRICaptureTaskUpdateBegin(Enqueue(stream).handle(), group.handle), "aclmdlRICaptureTaskUpdateBegin");
}

void end_task_update(c10::Stream stream) {
  acl_check(aclmdlRICaptureTaskUpdateEnd(Enqueue(stream).handle()), "aclmdlRICaptureTaskUpdateEnd");
}

}  // namespace torch_npu
