// What the runtime and softnpu's other libraries report.

#include "runtime/stream/trace.h"

#include <ctime>

#include "base/border.h"
#include "prof/collector.h"
#include "runtime/process.h"

namespace softnpu::trace {
namespace {

using prof::Collector;

// The task that this thread launched last.
thread_local constinit Tag recent{};
thread_local constinit const Running* current = nullptr;

softnpuTraceRecord record_of(softnpuTraceKind kind, uint64_t id) {
  softnpuTraceRecord record{};
  record.kind = kind;
  record.id = id;
  return record;
}

softnpuTraceRecord record_of(softnpuTraceKind kind, uint64_t id, Location location) {
  softnpuTraceRecord record = record_of(kind, id);
  record.device = location.device;
  record.stream = location.stream;
  return record;
}

}  // namespace

int64_t now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void append(softnpuTraceRecord record) noexcept {
  try {
    if (record.thread == 0) record.thread = this_thread();
    Collector::get().append(record);
  } catch (...) {
    Collector::get().count_lost();
  }
}

Tag begin_task() noexcept {
  Collector::get().count_open(1);
  return {Collector::get().next_id(), now()};
}

void launched(Tag tag, softnpuTraceTask task, const char* name, Location location, uint64_t number,
              uint64_t bytes) noexcept {
  softnpuTraceRecord record = record_of(SOFTNPU_TRACE_LAUNCH, tag.id, location);
  record.task = static_cast<uint8_t>(task);
  record.other = number;
  record.begin = tag.begin;
  record.end = now();
  record.bytes = bytes;
  record.name = name;
  append(record);
  recent = tag;
}

void withdrawn(Tag tag) noexcept {
  if (tag) Collector::get().count_open(-1);
}

void dropped(Tag tag) noexcept {
  if (!tag) return;
  append(record_of(SOFTNPU_TRACE_DROPPED, tag.id));
  Collector::get().count_open(-1);
}

void ran(Tag tag, Location location, int64_t begin, bool failed, uint64_t members) noexcept {
  softnpuTraceRecord record = record_of(SOFTNPU_TRACE_RUN, tag.id, location);
  record.failed = failed ? 1 : 0;
  record.other = members;
  record.begin = begin;
  record.end = now();
  append(record);
  Collector::get().count_open(-1);
}

void ran_fused(Tag tag, Location location, Tag leader, uint32_t position) noexcept {
  if (!tag) return;
  softnpuTraceRecord record = record_of(SOFTNPU_TRACE_MEMBER, tag.id, location);
  record.other = leader.id;
  record.position = position;
  append(record);
  Collector::get().count_open(-1);
}

Running::Running(Tag tag, Location location) noexcept : outer_(current), tag_(tag), location_(location) {
  current = this;
}
Running::~Running() { current = outer_; }

static Tag node_launched(const Node& node, int64_t begin) noexcept {
  if (current == nullptr || !current->tag()) return {};
  const Tag tag = begin_task();
  softnpuTraceRecord record = record_of(SOFTNPU_TRACE_LAUNCH, tag.id, {current->location().device, node.stream});
  record.task = SOFTNPU_TRACE_NODE;
  record.other = current->tag().id;
  record.begin = record.end = begin;
  record.bytes = node.bytes;
  record.name = node.name;
  append(record);
  return tag;
}

Tag node_ran(const Node& node, int64_t begin, bool failed, uint64_t members) noexcept {
  const Tag tag = node_launched(node, begin);
  if (tag) ran(tag, {current->location().device, node.stream}, begin, failed, members);
  return tag;
}

void node_ran_fused(const Node& node, Tag leader, uint32_t position) noexcept {
  if (!leader) return;
  ran_fused(node_launched(node, leader.begin), {current->location().device, node.stream}, leader, position);
}

void report_heap(Device& device) noexcept {
  if (!wants(SOFTNPU_TRACE_MEMORY)) return;
  softnpuTraceRecord record = record_of(SOFTNPU_TRACE_HEAP, 0);
  record.device = device.id();
  record.begin = record.end = now();
  record.bytes = device.heap().used();
  append(record);
}

}  // namespace softnpu::trace

using softnpu::prof::Collector;
namespace trace = softnpu::trace;

const uint32_t* softnpuTraceWanted(void) {
  static_assert(sizeof trace::wanted == sizeof(uint32_t));
  return reinterpret_cast<const uint32_t*>(&trace::wanted);
}

int64_t softnpuTraceNow(void) { return trace::now(); }

uint64_t softnpuTraceRecentTask(void) { return trace::wants(SOFTNPU_TRACE_TASKS) ? trace::recent.id : 0; }

uint64_t softnpuTraceRunningTask(void) { return trace::current == nullptr ? 0 : trace::current->tag().id; }

void softnpuTraceDetail(uint64_t id, const char* detail) {
  if (id == 0 || detail == nullptr || !trace::wants(SOFTNPU_TRACE_DETAILS)) return;
  softnpu::guarded([&] {
    softnpuTraceRecord record = trace::record_of(SOFTNPU_TRACE_DETAIL, id);
    record.detail = Collector::get().intern(detail);
    trace::append(record);
  });
}

void softnpuTraceCall(const char* name, int64_t begin) {
  if (!trace::wants(SOFTNPU_TRACE_CALLS)) return;
  softnpuTraceRecord record = trace::record_of(SOFTNPU_TRACE_CALL, trace::recent.begin >= begin ? trace::recent.id : 0);
  record.name = name;
  record.begin = begin;
  record.end = trace::now();
  trace::append(record);
}

void softnpuTraceHostKernel(const char* name, aclrtStream stream, int64_t begin) {
  if (name == nullptr || !trace::wants(SOFTNPU_TRACE_TASKS)) return;
  softnpu::guarded([&] {
    std::shared_ptr<softnpu::Stream> target;
    if (!softnpu::Process::get().stream(stream, &target).is_ok()) return;
    trace::Tag tag = trace::begin_task();
    tag.begin = begin;
    const trace::Location location{target->device(), target->id()};
    trace::launched(tag, SOFTNPU_TRACE_WORK, Collector::get().intern(name), location, 0, 0);
    trace::ran(tag, location, begin, false);
  });
}

void softnpuTraceMark(const char* domain, const char* message, aclrtStream stream, int64_t begin) {
  if (message == nullptr || !trace::wants(SOFTNPU_TRACE_MARKS)) return;
  softnpu::guarded([&] {
    softnpuTraceRecord record = trace::record_of(SOFTNPU_TRACE_MARK, 0);
    std::shared_ptr<softnpu::Stream> target;
    if (stream != nullptr && softnpu::Process::get().stream(stream, &target).is_ok()) {
      record.device = target->device();
      record.stream = target->id();
    }
    record.name = Collector::get().intern(domain == nullptr ? "" : domain);
    record.detail = Collector::get().intern(message);
    record.end = trace::now();
    record.begin = begin == 0 ? record.end : begin;
    trace::append(record);
  });
}
