#include "acl/rt/event.h"

#include <string>
#include <string_view>

#include "ascendcl/api.h"
#include "base/text.h"
#include "runtime/stream/capture/external_event.h"

using softnpu::api;
using softnpu::EventRecord;
using softnpu::Process;
using softnpu::require;
using softnpu::SharedMark;
using softnpu::Status;
using softnpu::Stream;
using softnpu::text;

namespace {

constexpr uint32_t kFlags =
    ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE | ACL_EVENT_EXTERNAL | ACL_EVENT_IPC;

Status create(aclrtEvent* out, uint32_t flag) {
  SOFTNPU_RETURN_IF_ERROR(require(out, "event"));
  SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
  if ((flag & ~kFlags) != 0) return {ACL_ERROR_INVALID_PARAM, text("the event flags ", flag, " hold unknown ones")};
  std::shared_ptr<SharedMark> mark;
  if ((flag & ACL_EVENT_IPC) != 0) SOFTNPU_RETURN_IF_ERROR(SharedMark::create(&mark));
  EventRecord* result = nullptr;
  SOFTNPU_RETURN_IF_ERROR(Process::get().create_event(flag, std::move(mark), &result));
  // Streams may wait for an external event before its first record, as for others after a reset.
  if ((flag & ACL_EVENT_EXTERNAL) != 0) result->event->reset();
  *out = result;
  return Status::ok();
}

// The stream and the event of two handles.
Status find(aclrtStream stream, aclrtEvent event, std::shared_ptr<Stream>* target, EventRecord* record) {
  SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, target));
  return Process::get().event(event, record);
}

// Like find(). An event is recorded and reset in its own context; other contexts may wait for it.
Status find_own(aclrtStream stream, aclrtEvent event, std::shared_ptr<Stream>* target, EventRecord* record) {
  SOFTNPU_RETURN_IF_ERROR(find(stream, event, target, record));
  if ((*target)->context() == record->context) return Status::ok();
  return {ACL_ERROR_RT_STREAM_CONTEXT,
          text("event ", event, " belongs to another context than stream ", (*target)->id(), " of device ",
               (*target)->device(), ": streams of its own context record it, all others can wait for it")};
}

// The host can neither ask nor wait for an event that was recorded in a capture: nothing will complete it.
Status find_for_host(aclrtEvent event, EventRecord* record) {
  SOFTNPU_RETURN_IF_ERROR(Process::get().event(event, record));
  const auto captured = record->event->captured();
  if (captured == nullptr) return Status::ok();
  Status refused(ACL_ERROR_RT_EVENT_CAPTURED,
                 text("event ", event, " was last recorded in a capture: the host cannot ask or wait for it before it ",
                      "is recorded outside of one"));
  if (const auto capture = captured->capture.lock()) capture->invalidate(refused);
  return refused;
}

// Whether an event is one that graphs have as a flag. Those that processes share as well are not.
bool is_external(const EventRecord& record) {
  return (record.flags & ACL_EVENT_EXTERNAL) != 0 && record.event->mark() == nullptr;
}

// Adds what `add` does with an external event to the stream's graph, if it captures one.
template <typename Add>
Status capture_external(Add* add, const Stream& stream, const EventRecord& record, bool* is_captured) {
  return is_external(record) ? add(stream, record.event, is_captured) : Status::ok();
}

// Fails if the event never will be complete.
Status query(const EventRecord& record, bool* is_complete) {
  const uint64_t newest = record.event->newest();
  *is_complete = record.event->is_complete(newest);
  return *is_complete ? Status::ok() : record.event->failure(newest);
}

}  // namespace

aclError aclrtCreateEvent(aclrtEvent* event) {
  return api("aclrtCreateEvent", [&] { return create(event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE); });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return api("aclrtCreateEventWithFlag", [&] { return create(event, flag); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return api("aclrtCreateEventExWithFlag", [&] { return create(event, flag); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return api("aclrtDestroyEvent", [&] { return Process::get().destroy_event(event); });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return api("aclrtRecordEvent", [&] {
    std::shared_ptr<Stream> target;
    EventRecord record;
    SOFTNPU_RETURN_IF_ERROR(find_own(stream, event, &target, &record));
    bool is_captured = false;
    const Status captured = capture_external(softnpu::capture_external_record, *target, record, &is_captured);
    if (is_captured) return captured;
    return target->record(std::move(record.event));
  });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return api("aclrtResetEvent", [&] {
    std::shared_ptr<Stream> target;
    EventRecord record;
    SOFTNPU_RETURN_IF_ERROR(find_own(stream, event, &target, &record));
    bool is_captured = false;
    const Status captured = capture_external(softnpu::capture_external_reset, *target, record, &is_captured);
    if (is_captured) return captured;
    SOFTNPU_RETURN_IF_ERROR(target->refuse_in_capture("aclrtResetEvent", "reset the event before the capture"));
    record.event->reset();
    return Status::ok();
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return api("aclrtStreamWaitEvent", [&] {
    std::shared_ptr<Stream> target;
    EventRecord record;
    SOFTNPU_RETURN_IF_ERROR(find(stream, event, &target, &record));
    bool is_captured = false;
    const Status captured = capture_external(softnpu::capture_external_wait, *target, record, &is_captured);
    if (is_captured) return captured;
    return target->wait(std::move(record.event));
  });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  return api("aclrtQueryEvent", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(status, "status"));
    EventRecord record;
    SOFTNPU_RETURN_IF_ERROR(find_for_host(event, &record));
    bool is_complete = false;
    SOFTNPU_RETURN_IF_ERROR(query(record, &is_complete));
    *status = is_complete ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return Status::ok();
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return api("aclrtQueryEventStatus", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(status, "status"));
    EventRecord record;
    SOFTNPU_RETURN_IF_ERROR(find_for_host(event, &record));
    bool is_complete = false;
    SOFTNPU_RETURN_IF_ERROR(query(record, &is_complete));
    *status = is_complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return Status::ok();
  });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  return api("aclrtQueryEventWaitStatus", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(status, "status"));
    EventRecord record;
    SOFTNPU_RETURN_IF_ERROR(Process::get().event(event, &record));
    *status = record.event->has_waits() ? ACL_EVENT_WAIT_STATUS_NOT_READY : ACL_EVENT_WAIT_STATUS_COMPLETE;
    return Status::ok();
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return api("aclrtSynchronizeEvent", [&] {
    EventRecord record;
    SOFTNPU_RETURN_IF_ERROR(find_for_host(event, &record));
    return record.event->wait();
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return api("aclrtEventElapsedTime", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(ms, "ms"));
    EventRecord start;
    EventRecord end;
    SOFTNPU_RETURN_IF_ERROR(find_for_host(startEvent, &start));
    SOFTNPU_RETURN_IF_ERROR(find_for_host(endEvent, &end));
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

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  return api("aclrtEventGetTimestamp", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(timestamp, "timestamp"));
    EventRecord record;
    SOFTNPU_RETURN_IF_ERROR(Process::get().event(event, &record));
    auto at = record.event->completed_at();
    if (!at || (record.flags & ACL_EVENT_TIME_LINE) == 0) {
      return {ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
              "the event has to be created with ACL_EVENT_TIME_LINE, recorded and complete"};
    }
    const auto since = std::chrono::duration_cast<std::chrono::microseconds>(at->time_since_epoch());
    *timestamp = static_cast<uint64_t>(since.count());
    return Status::ok();
  });
}

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle) {
  return api("aclrtIpcGetEventHandle", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(handle, "handle"));
    EventRecord record;
    SOFTNPU_RETURN_IF_ERROR(Process::get().event(event, &record));
    const auto& mark = record.event->mark();
    if (!mark) return {ACL_ERROR_RT_PARAM_INVALID, "the event was not created with ACL_EVENT_IPC"};
    *handle = {};
    std::string key;
    SOFTNPU_RETURN_IF_ERROR(mark->key(Process::get().exports(), &key));
    key.copy(handle->reserved, sizeof handle->reserved - 1);
    return Status::ok();
  });
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* event) {
  return api("aclrtIpcOpenEventHandle", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(event, "event"));
    *event = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
    const std::string_view bytes(handle.reserved, sizeof handle.reserved);
    std::shared_ptr<SharedMark> mark;
    SOFTNPU_RETURN_IF_ERROR(SharedMark::open(std::string(bytes.substr(0, bytes.find(char{0}))), &mark));
    EventRecord* result = nullptr;
    SOFTNPU_RETURN_IF_ERROR(Process::get().create_event(ACL_EVENT_IPC, std::move(mark), &result));
    *event = result;
    return Status::ok();
  });
}
