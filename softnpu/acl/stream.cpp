#include "acl/acl_rt.h"
#include "api.h"
#include "base/text.h"

using softnpu::api;
using softnpu::EventRecord;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::Stream;

namespace {

Status create_stream(aclrtStream* out) {
  SOFTNPU_RETURN_IF_ERROR(require(out, "stream"));
  Stream* made = nullptr;
  SOFTNPU_RETURN_IF_ERROR(Process::get().create_stream(&made));
  *out = made;
  return Status::ok();
}

Status create_event(aclrtEvent* out, uint32_t flag) {
  SOFTNPU_RETURN_IF_ERROR(require(out, "event"));
  SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
  *out = Process::get().create_event(flag);
  return Status::ok();
}

}  // namespace

aclError aclrtCreateStream(aclrtStream* stream) {
  return api("aclrtCreateStream", [&] { return create_stream(stream); });
}

// Priorities and launch modes are hints to a device with several queues in hardware; one executor has none.
aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) {
  return api("aclrtCreateStreamWithConfig", [&] { return create_stream(stream); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return api("aclrtDestroyStream", [&] { return Process::get().destroy_stream(stream, false); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return api("aclrtDestroyStreamForce", [&] { return Process::get().destroy_stream(stream, true); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return api("aclrtSynchronizeStream", [&] {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    return target->synchronize(std::chrono::milliseconds(timeout));
  });
}

aclError aclrtSynchronizeStream(aclrtStream stream) { return aclrtSynchronizeStreamWithTimeout(stream, -1); }

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return api("aclrtStreamQuery", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(status, "status"));
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    *status = target->idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return Status::ok();
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return api("aclrtStreamWaitEvent", [&] {
    std::shared_ptr<Stream> target;
    EventRecord record;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    SOFTNPU_RETURN_IF_ERROR(Process::get().event(event, &record));
    return target->wait(std::move(record.event));
  });
}

aclError aclrtCreateEvent(aclrtEvent* event) {
  return api("aclrtCreateEvent", [&] { return create_event(event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE); });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return api("aclrtCreateEventWithFlag", [&] { return create_event(event, flag); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return api("aclrtCreateEventExWithFlag", [&] { return create_event(event, flag); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return api("aclrtDestroyEvent", [&] { return Process::get().destroy_event(event); });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return api("aclrtRecordEvent", [&] {
    std::shared_ptr<Stream> target;
    EventRecord record;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    SOFTNPU_RETURN_IF_ERROR(Process::get().event(event, &record));
    return target->record(std::move(record.event));
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return api("aclrtQueryEventStatus", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(status, "status"));
    EventRecord record;
    SOFTNPU_RETURN_IF_ERROR(Process::get().event(event, &record));
    *status = record.event->is_complete(record.event->newest()) ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                                                : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return Status::ok();
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return api("aclrtSynchronizeEvent", [&] {
    EventRecord record;
    SOFTNPU_RETURN_IF_ERROR(Process::get().event(event, &record));
    record.event->wait(std::chrono::milliseconds(-1));
    return Status::ok();
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return api("aclrtEventElapsedTime", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(ms, "ms"));
    EventRecord start;
    EventRecord end;
    SOFTNPU_RETURN_IF_ERROR(Process::get().event(startEvent, &start));
    SOFTNPU_RETURN_IF_ERROR(Process::get().event(endEvent, &end));
    if ((start.flags & end.flags & ACL_EVENT_TIME_LINE) == 0) {
      return {ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "both events have to be created with ACL_EVENT_TIME_LINE"};
    }
    auto from = start.event->completed_at();
    auto to = end.event->completed_at();
    if (!from || !to) {
      return {ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "both events have to be recorded and complete"};
    }
    *ms = std::chrono::duration<float, std::milli>(*to - *from).count();
    return Status::ok();
  });
}
