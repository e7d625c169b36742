#include "ascendc/sanitizer/core.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "ascendc/launch/fault.h"
#include "ascendc/sanitizer/flags.h"

namespace softnpu::kernel::check {

namespace {

// What orders an access behind that of `other`, whose pipes are `pair`.
std::string order_of(const Site& other, const std::string& pair) {
  const std::string_view name = other.name;
  if (other.pipe == Pipe::kM && name == "IterateAll") return "WaitIterateAll or End";
  if (other.pipe == Pipe::kM && name == "GetTensorC") return "WaitGetTensorC";
  return "SetFlag and WaitFlag " + pair + ", or EnQue and DeQue";
}

}  // namespace

Core::Core(const Block& block, const Settings& settings, LaunchMemory* memory, timeline::BlockTrace* trace)
    : block_(block),
      settings_(settings),
      trace_(trace),
      buffers_(&block),
      global_(memory),
      order_{this, {}},
      pipes_(&order_),
      scheduler_(settings, block.number) {
  for (int i = 0; i < kPipes; ++i) order_.clocks[i].epochs[i] = 1;
  for (size_t i = 0; i < std::size(block.local); ++i) {
    if (block.local_bytes[i] > 0) forget({block.local[i], block.local_bytes[i]});
  }
}

Clock Core::Order::set(Pipe from) {
  Clock& clock = clocks[static_cast<int>(from)];
  const Clock token = clock;
  clock.tick(from);
  return token;
}

void Core::issue(const Instruction& instruction) {
  const Site site{instruction.name, instruction.pipe, instruction.where};
  if (instruction.touch == nullptr) {
    if (Report* report = add(Check::kMemcheck, site, {}, true))
      report->what = std::string(instruction.name) + " does not say what it touches: checked mode cannot judge it";
    return;
  }
  if (instruction.touch_reads && pipes_.is_empty(instruction.pipe)) scheduler_.finish(instruction.pipe);
  touched_.clear();
  instruction.touch(instruction, &touched_);
  bool is_fault = false;
  for (const std::string& sentence : touched_.misuses()) {
    is_fault = true;
    if (Report* report = add(Check::kMemcheck, site, {}, true)) report->what = sentence;
  }
  is_fault |= !check_bounds(&touched_.reads(), false, site);
  is_fault |= !check_bounds(&touched_.writes(), true, site);

  if (trace_ != nullptr) trace_->work(instruction, &touched_, block_);
  const uint32_t number = sites_.number_of(site);
  Clock& scalar = order_.clocks[static_cast<int>(Pipe::kS)];
  const Work work{number, scalar.of(Pipe::kS), touched_.is_atomic(), touched_.reads(), touched_.writes()};
  if (instruction.pipe == Pipe::kS || pipes_.is_empty(instruction.pipe)) {
    judge(instruction.pipe, work);
  } else {
    pipes_.push_work(instruction.pipe, work);
    scalar.tick(Pipe::kS);  // what the scalar unit reads from now on is behind it
  }
  if (!is_fault) scheduler_.issue(instruction);
}

void Core::scalar_access(const Memory& memory, uint64_t bytes, bool writes, const std::source_location& where) {
  const Site site{last_action.name, Pipe::kS, where};
  touched_.clear();
  touched_.operand("tensor", memory);
  std::vector<Range>& ranges = writes ? touched_.writes() : touched_.reads();
  const Range range{reinterpret_cast<uint64_t>(memory.address), bytes};
  ranges.push_back(range);
  if (!check_bounds(&ranges, writes, site)) {
    const bool has_memory = buffers_.memory_of(range.address) && buffers_.memory_of(range.address + bytes - 1);
    if (!has_memory && global_.valid_bytes(range.address, bytes) < bytes)
      throw Fault("the scalar unit accesses memory that is not there");
  }
  if (trace_ != nullptr) trace_->scalar_access(range.address, bytes, writes, site, block_);
  judge(Pipe::kS, {sites_.number_of(site), 0, false, touched_.reads(), touched_.writes()});
}

void Core::judge(Pipe pipe, const Work& work) {
  const Accessor who{pipe, work.site, &order_.clocks[static_cast<int>(pipe)], work.scalar_epoch};
  if (settings_.has[static_cast<int>(Check::kInitcheck)] || settings_.has[static_cast<int>(Check::kRacecheck)]) {
    judge(Access::kRead, work.reads, who);
    judge(Access::kWrite, work.writes, who);
  }
  if (settings_.has[static_cast<int>(Check::kInitcheck)]) {
    check_written(work.reads, sites_[work.site]);
    for (const Range& range : work.writes) {
      if (!buffers_.memory_of(range.address)) global_.write(range.address, range.bytes);
    }
  }
  if (!settings_.has[static_cast<int>(Check::kBlockcheck)] || block_.count == 1) return;
  // An atomic copy reads what it writes.
  if (!work.is_atomic) note_global(GlobalAccess::kRead, work.reads, work.site);
  note_global(work.is_atomic ? GlobalAccess::kCombine : GlobalAccess::kWrite, work.writes, work.site);
}

void Core::check_written(const std::vector<Range>& reads, const Site& site) {
  for (const Range& range : reads) {
    if (buffers_.memory_of(range.address)) continue;
    const uint64_t first = global_.first_unwritten(range.address, range.bytes);
    if (first == 0) continue;
    Report* report = add(Check::kInitcheck, site, {});
    if (report == nullptr) continue;
    report->what = std::string(site.name) + " reads bytes of global memory that nothing has written";
    report->details = {"reads: " + std::to_string(range.bytes) + " bytes at " + buffers_.location(range.address) +
                           ", first at " + buffers_.location(first),
                       "in " + global_.text(first)};
  }
}

void Core::note_global(GlobalAccess access, const std::vector<Range>& ranges, uint32_t site) {
  for (const Range& range : ranges) {
    if (!buffers_.memory_of(range.address)) accesses_.add(access, range.address, range.bytes, site, sites_[site]);
  }
}

void Core::judge(Access access, const std::vector<Range>& ranges, const Accessor& who) {
  for (const Range& range : ranges) {
    findings_.clear();
    shadow_.access(access, range.address, range.bytes, who, &findings_);
    for (const Finding& finding : findings_) report_finding(finding, range, access, who);
  }
}

void Core::report_finding(const Finding& finding, const Range& range, Access access, const Accessor& who) {
  const Site& site = sites_[who.site];
  const LocalBuffer* buffer = buffers_.find(finding.address);
  const std::string does = access == Access::kWrite ? "writes" : "reads";
  const std::string bytes = does + ": " + std::to_string(range.bytes) + " bytes at " + buffers_.location(range.address);
  const std::string first = ", first at " + buffers_.location(finding.address);
  if (finding.kind == Finding::Kind::kUninitialised) {
    Report* report = add(Check::kInitcheck, site, {});
    if (report == nullptr) return;
    report->what = std::string(site.name) + " reads bytes that nothing has written";
    report->details = {bytes + first};
  } else {
    const Site& other = sites_[finding.other_site];
    Report* report = add(Check::kRacecheck, site, other.where);
    if (report == nullptr) return;
    const std::string pair = std::string(name_of(other.pipe)) + "_" + name_of(site.pipe);
    report->what = std::string(site.name) + " on pipe " + name_of(site.pipe) + " " + does + " what " + other.name +
                   " on pipe " + name_of(other.pipe) + (finding.other_writes ? " writes" : " reads") +
                   ", and no flag orders the two";
    report->details = {
        bytes + first,
        "other access: " + std::string(other.name) + " on pipe " + name_of(other.pipe) + ", " + line_of(other.where),
        "to fix it: " + order_of(other, pair) + ", between the two"};
  }
  if (buffer == nullptr)
    reports_.back().details.insert(reports_.back().details.begin() + 1, "in " + global_.text(finding.address));
  else
    reports_.back().details.insert(reports_.back().details.begin() + 1, "in " + buffer->text(block_));
}

void Core::refuse(Check check, const char* sentence, const std::source_location& where) {
  if (Report* report = add(check, {"", Pipe::kS, where}, {}, true)) report->what = sentence;
}

void Core::local_event(LocalEvent event, const Memory& memory, const void* owner, const std::source_location& where) {
  if (event == LocalEvent::kReset) check_freed();
  const std::string wrong = buffers_.handle(event, memory, owner, where);
  if (!wrong.empty()) {
    if (Report* report = add(Check::kMemcheck, {"", Pipe::kS, where}, {})) report->what = wrong;
  }
  // What a kernel reads before it writes does not depend on the block that had the memory before.
  constexpr int kUnwritten = 0x7e;
  if (event == LocalEvent::kInitBuffer && pipes_.pending() == 0) std::memset(memory.address, kUnwritten, memory.bytes);
  // A tensor begins without contents. Where a pipe is behind, its accesses are to the tensor that was there before.
  const bool is_new = event == LocalEvent::kInitBuffer || event == LocalEvent::kAlloc;
  if (is_new && pipes_.pending() == 0) forget(memory);
}

void Core::forget(const Memory& memory) {
  const Accessor nobody{Pipe::kS, 0, &order_.clocks[0], 0};
  shadow_.access(Access::kForget, reinterpret_cast<uint64_t>(memory.address), memory.bytes, nobody, &findings_);
}

void Core::check_freed() {
  for (const auto& [begin, buffer] : buffers_.all()) {
    if (buffer.state != LocalBuffer::State::kLent) continue;
    if (Report* report = add(Check::kMemcheck, {"AllocTensor", Pipe::kS, buffer.lent}, {})) {
      report->what = "a tensor is never freed: FreeTensor is missing";
      report->details = {"in " + buffer.text(block_)};
    }
  }
}

Report* Core::add(Check check, const Site& site, const std::source_location& other, bool is_fault) {
  if (!settings_.has[static_cast<int>(check)] && !is_fault) return nullptr;
  Report report;
  report.check = check;
  report.instruction = site.name;
  report.pipe = site.pipe;
  report.where = site.where;
  report.other = other;
  report.kernel = block_.kernel;
  report.block = block_.number;
  const bool is_known =
      std::any_of(reports_.begin(), reports_.end(), [&](const Report& had) { return had.is_same_as(report); });
  if (is_known) return nullptr;
  reports_.push_back(std::move(report));
  return &reports_.back();
}

}  // namespace softnpu::kernel::check
