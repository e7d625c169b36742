#include "ascendc/timeline/trace_file.h"

#include <cerrno>
#include <cstring>

#include "ascendc/sanitizer/local_buffers.h"
#include "ascendc/sanitizer/report.h"
#include "ascendc/timeline/text.h"

namespace softnpu::kernel::timeline {
namespace {

constexpr char kBegin[] = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
constexpr char kEnd[] = "\n]}\n";
constexpr unsigned kLaunches = 1000000;  // the "process" that has the launches

// "name" of a process or thread.
std::string named(const char* what, unsigned process, int thread, const std::string& name) {
  return format(R"({"ph":"M","name":"%s","pid":%u,"tid":%d,"args":{"name":)", what, process, thread) + quoted(name) +
         "}}";
}

}  // namespace

TraceFile::TraceFile(const std::string& path, const Figures& figures) {
  file_.reset(std::fopen(path.c_str(), "w"));
  if (file_ == nullptr) {
    error_ = "SOFTNPU_KERNEL_TIMELINE: " + path + " cannot be written: " + std::strerror(errno);
    return;
  }
  std::fputs(kBegin, file_.get());
  std::string list;
  std::string sources;
  for (const FigureRow& row : figure_rows())
    append_to_list(&list, format("\"%s\":%.6g", row.name, figures.*row.member), ",");
  for (const FigureRow& row : figure_rows())
    append_to_list(&sources, format("\"%s\":%s", row.name, quoted(std::string(row.unit) + "; " + row.source).c_str()),
                   ",");
  std::fputs((named("process_name", kLaunches, 0, "launches (a model, not a measurement)") + ",\n" +
              format(R"({"ph":"M","name":"figures","pid":%u,"tid":0,"args":{)", kLaunches) + list + "}},\n" +
              format(R"({"ph":"M","name":"units and sources","pid":%u,"tid":0,"args":{)", kLaunches) + sources + "}}")
                 .c_str(),
             file_.get());
  std::fputs(kEnd, file_.get());
  std::fflush(file_.get());
}

void TraceFile::append(const std::string& events) {
  std::fseek(file_.get(), -static_cast<long>(sizeof kEnd - 1), SEEK_END);
  std::fputs((",\n" + events + kEnd).c_str(), file_.get());
  std::fflush(file_.get());
}

void TraceFile::name_core(uint32_t core, std::string* events) {
  if (!named_.insert(core).second) return;
  *events += ",\n" + named("process_name", core, 0, "core " + std::to_string(core));
  for (int i = 0; i < kPipes; ++i)
    *events += ",\n" + named("thread_name", core, i, std::string("pipe ") + check::name_of(static_cast<Pipe>(i)));
}

void TraceFile::add(const Summary& summary, const Outcome& outcome,
                    const std::vector<std::unique_ptr<BlockTrace>>& blocks, const Figures& figures) {
  const std::lock_guard lock(mutex_);
  const double us = 1e-3 / figures.frequency;  // a cycle
  std::string events =
      format(R"({"ph":"X","pid":%u,"tid":0,"ts":%.6f,"dur":%.6f,"name":)", kLaunches, begin_us_, summary.microseconds) +
      quoted(summary.kernel) + ",\"args\":{" + summary.json() + "}}";
  for (const Slice& slice : outcome.slices) {
    const uint32_t core = outcome.core_of_block[slice.block];
    name_core(core, &events);
    const check::Site& site = blocks[slice.block]->site(slice.site);
    events += format(",\n{\"ph\":\"X\",\"pid\":%u,\"tid\":%d,\"ts\":%.6f,\"dur\":%.6f,\"name\":", core,
                     static_cast<int>(slice.pipe), begin_us_ + slice.begin * us, (slice.end - slice.begin) * us) +
              quoted(site.name) + format(",\"args\":{\"block\":%u,\"line\":", slice.block) +
              quoted(check::line_of(site.where)) + "}}";
  }
  append(events);
  begin_us_ += summary.microseconds;
}

}  // namespace softnpu::kernel::timeline
