#include "core/event.h"

#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>

#include "core/acl.h"
#include "core/device.h"
#include "core/program_lines.h"
#include "core/stream.h"
#include "core/wait.h"

namespace torch_npu {

void Event::Destroy::operator()(aclrtEvent event) const noexcept {
  if (!in_bad_fork()) acl_warn(aclrtDestroyEvent(event), "aclrtDestroyEvent");
}

void Event::record(c10::Stream stream) {
  if (handle_ == nullptr) {
    aclrtEvent result = nullptr;
    const c10::DeviceGuard guard(stream.device());  // the event belongs to its context
    acl_check(aclrtCreateEventExWithFlag(&result, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE), "aclrtCreateEventExWithFlag");
    handle_.reset(result);
  }
  acl_check(aclrtRecordEvent(handle_.get(), Enqueue(stream).handle()), "aclrtRecordEvent");
}

void Event::synchronize() const {
  TORCH_CHECK(is_recorded(), "this event was not recorded");
  count_synchronization();
  const program_lines::Waiting waiting;
  wait_for_event(handle_.get());
}

double elapsed_ms(const Event& start, const Event& end) {
  start.synchronize();
  end.synchronize();
  float ms = 0;
  acl_check(aclrtEventElapsedTime(&ms, start.handle_.get(), end.handle_.get()), "aclrtEventElapsedTime");
  return ms;
}

}  // namespace torch_npu
