// Flags and barriers of a checked core.

#include <algorithm>

#include "ascendc/launch/fault.h"
#include "ascendc/sanitizer/core.h"
#include "ascendc/sanitizer/flags.h"

namespace softnpu::kernel::check {

bool Core::check_event(const Flag& flag, const char* call, const std::source_location& where) {
  if (flag.event >= 0 && flag.event < kEvents) return true;
  if (Report* report = add(Check::kSynccheck, {call, Pipe::kS, where}, {}, true))
    report->what = std::string(call) + " " + text_of(flag) + ": a pair of pipes has events 0 to 7";
  return false;
}

bool Core::drops(const std::source_location& where) {
  const std::string line = line_of(where);
  if (settings_.drop == "list") {
    ordering_lines_.insert(line);
    return false;
  }
  for (size_t at = 0; at < settings_.drop.size();) {
    const size_t end = std::min(settings_.drop.find(',', at), settings_.drop.size());
    if (settings_.drop.compare(at, end - at, line) == 0) return true;
    at = end + 1;
  }
  return false;
}

void Core::set_flag(const Flag& flag, const std::source_location& where) {
  if (!check_event(flag, "SetFlag", where)) return;
  Calls& calls = calls_[flag.index()];
  if (!settings_.drop.empty()) {
    calls.are_dropped.push_back(drops(where));
    if (calls.are_dropped.back()) return;
  }
  if (calls.sets > calls.waits) {
    if (Report* report = add(Check::kSynccheck, {"SetFlag", flag.from, where}, calls.last_set)) {
      report->what = "SetFlag " + text_of(flag) + ": it is set already, and nothing has waited for it since";
      report->details = {"set before at " + line_of(calls.last_set)};
    }
  }
  if (trace_ != nullptr) trace_->flag(timeline::Step::Kind::kSet, flag);
  ++calls.sets;
  calls.last_set = where;
  pipes_.push_set(flag, where);
  pipes_.run_ready();
  scheduler_.set_flag(flag, where);
}

void Core::wait_flag(const Flag& flag, const std::source_location& where) {
  if (!check_event(flag, "WaitFlag", where)) return;
  Calls& calls = calls_[flag.index()];
  if (!calls.are_dropped.empty()) {
    const bool is_dropped = calls.are_dropped.front();
    calls.are_dropped.pop_front();
    if (is_dropped) return;
  }
  if (trace_ != nullptr) trace_->flag(timeline::Step::Kind::kWait, flag);
  ++calls.waits;
  if (flag.to == Pipe::kS) {
    if (!pipes_.try_wait(flag)) stop_for_deadlock(&flag, where);
  } else {
    pipes_.push_wait(flag, where);
    pipes_.run_ready();
  }
  scheduler_.wait_flag(flag, where);
}

void Core::barrier(int pipe, const std::source_location& where) {
  if (pipe != kAllPipes) return;  // a pipe works in order
  if (!settings_.drop.empty() && drops(where)) return;
  if (pipes_.pending() > 0) stop_for_deadlock(nullptr, where);
  broadcast_and_promote(timeline::Step::Kind::kBarrier);
  Clock all;
  for (const Clock& clock : order_.clocks) all.join(clock);
  for (int i = 0; i < kPipes; ++i) {
    order_.clocks[i] = all;
    order_.clocks[i].tick(static_cast<Pipe>(i));
  }
  scheduler_.drain();
}

void Core::report_deadlock(const Flag* scalar_wait, const std::source_location& where) {
  std::vector<std::string> waits;
  std::source_location first = where;
  Pipe pipe_of_first = Pipe::kS;
  if (scalar_wait != nullptr) waits.push_back("pipe S waits for " + text_of(*scalar_wait) + ", " + line_of(where));
  for (int i = 0; i < kPipes; ++i) {
    const auto pipe = static_cast<Pipe>(i);
    const auto* wait = pipes_.blocked(pipe);
    if (wait == nullptr) continue;
    if (scalar_wait == nullptr && waits.empty()) {
      first = wait->where;
      pipe_of_first = pipe;
    }
    waits.push_back(std::string("pipe ") + name_of(pipe) + " waits for " + text_of(wait->flag) + ", " +
                    line_of(wait->where));
  }
  Report* report = add(Check::kSynccheck, {"WaitFlag", pipe_of_first, first}, {}, true);
  if (report == nullptr) return;
  report->what = "a wait that nothing can end";
  report->details = std::move(waits);
  for (int i = 0; i < kFlags; ++i) {
    const Flag flag{static_cast<Pipe>(i / kEvents / kPipes), static_cast<Pipe>(i / kEvents % kPipes), i % kEvents};
    for (const auto& set : pipes_.sets(flag))
      report->details.push_back(text_of(flag) + " is set at " + line_of(set.where) + ", and nothing waits for it");
  }
}

void Core::stop_for_deadlock(const Flag* scalar_wait, const std::source_location& where) {
  report_deadlock(scalar_wait, where);
  throw Fault("a wait that nothing can end");
}

void Core::finish() {
  if (pipes_.pending() > 0) return report_deadlock(nullptr, {});
  scheduler_.drain();
  for (int i = 0; i < kFlags; ++i) {
    const Flag flag{static_cast<Pipe>(i / kEvents / kPipes), static_cast<Pipe>(i / kEvents % kPipes), i % kEvents};
    for (const auto& set : pipes_.sets(flag)) {
      if (Report* report = add(Check::kSynccheck, {"SetFlag", flag.from, set.where}, {}))
        report->what = "SetFlag " + text_of(flag) + ": nothing waits for it until the block ends";
    }
  }
  check_freed();
}

}  // namespace softnpu::kernel::check
