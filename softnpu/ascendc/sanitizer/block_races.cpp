#include "ascendc/sanitizer/block_races.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "ascendc/sanitizer/global_memory.h"
#include "ascendc/sanitizer/local_buffers.h"

namespace softnpu::kernel::check {
namespace {

constexpr int kAccesses = 3;
// So many ranges of one line and kind of access, all of which have a byte in common, are compared with what comes
// behind them, those that reach farthest. Without signals two of different blocks show every race of the line.
constexpr size_t kMaxActive = 64;

bool is_conflict(GlobalAccess a, GlobalAccess b) {
  if (a == b) return a == GlobalAccess::kWrite;
  return true;  // of two that differ one writes, and one is not atomic
}

const char* verb_of(GlobalAccess access) {
  constexpr const char* kVerbs[kAccesses] = {"reads", "writes", "combines"};
  return kVerbs[static_cast<int>(access)];
}

}  // namespace

BlockRaces::BlockRaces(uint32_t blocks, std::string kernel, LaunchMemory* memory)
    : kernel_(std::move(kernel)), memory_(memory), order_(blocks) {}

void BlockRaces::add_blocks(uint32_t count) {
  const std::lock_guard lock(mutex_);
  order_.add_blocks(count);
}

void BlockRaces::keep(uint32_t block, std::vector<LineAccesses> lines) {
  const BlockOrder::Segment segment = order_.current(block);
  const uint32_t phase = order_.phase(segment);
  if (phases_.size() <= phase) phases_.resize(phase + 1);
  for (LineAccesses& line : lines) phases_[phase].entries.push_back({segment, std::move(line)});
}

void BlockRaces::sync_all(uint32_t block, std::vector<LineAccesses> lines) {
  const std::lock_guard lock(mutex_);
  keep(block, std::move(lines));
  Phase& phase = phases_[order_.phase(order_.current(block))];
  order_.sync_all(block);
  if (++phase.arrived == order_.blocks()) compare(&phase);
}

void BlockRaces::set(uint32_t block, const BlockOrder::Signal& signal, std::vector<LineAccesses> lines) {
  const std::lock_guard lock(mutex_);
  keep(block, std::move(lines));
  order_.set(block, signal);
}

void BlockRaces::wait(uint32_t block, const BlockOrder::Signal& signal, std::vector<LineAccesses> lines) {
  const std::lock_guard lock(mutex_);
  keep(block, std::move(lines));
  order_.wait(block, signal);
}

void BlockRaces::end(uint32_t block, std::vector<LineAccesses> lines) {
  const std::lock_guard lock(mutex_);
  keep(block, std::move(lines));
}

std::vector<Report> BlockRaces::finish() {
  const std::lock_guard lock(mutex_);
  for (Phase& phase : phases_) compare(&phase);
  return std::move(reports_);
}

BlockRaces::LineKey BlockRaces::key_of(const LineAccesses& accesses) {
  const auto& where = accesses.site.where;
  return {where.file_name(), where.line(), accesses.site.name, accesses.access};
}

// Goes over the ranges by address, with those that have begun and not ended.
void BlockRaces::compare(Phase* phase) {
  std::vector<Entry>& entries = phase->entries;
  std::stable_sort(entries.begin(), entries.end(), [this](const Entry& a, const Entry& b) {
    return order_.block(a.segment) < order_.block(b.segment);
  });
  std::map<LineKey, uint32_t> numbers;
  std::vector<uint32_t> line_of_entry;
  std::vector<Interval> intervals;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    const auto number = static_cast<uint32_t>(numbers.size());
    line_of_entry.push_back(numbers.try_emplace(key_of(entries[i].accesses), number).first->second);
    for (const auto& [begin, end] : entries[i].accesses.ranges.all()) intervals.push_back({begin, end, i});
  }
  std::stable_sort(intervals.begin(), intervals.end(),
                   [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::vector<std::vector<Interval>> active(numbers.size());  // by line
  std::vector<GlobalAccess> access_of_line(numbers.size());
  for (const auto& [key, number] : numbers) access_of_line[number] = std::get<GlobalAccess>(key);
  std::vector<bool> done(numbers.size() * numbers.size(), false);  // pairs of lines that were reported
  for (const Interval& next : intervals) {
    const Entry& entry = entries[next.entry];
    const uint32_t line = line_of_entry[next.entry];
    for (uint32_t other = 0; other < active.size(); ++other) {
      if (active[other].empty() || done[line * numbers.size() + other]) continue;
      if (!is_conflict(access_of_line[line], access_of_line[other])) continue;
      for (const Interval& had : active[other]) {
        const Entry& before = entries[had.entry];
        if (had.end <= next.begin || order_.block(before.segment) == order_.block(entry.segment)) continue;
        if (order_.is_ordered(before.segment, entry.segment)) continue;
        report(before, entry, next.begin, std::min(had.end, next.end));
        done[line * numbers.size() + other] = done[other * numbers.size() + line] = true;
        break;
      }
    }
    std::vector<Interval>& own = active[line];
    std::erase_if(own, [&](const Interval& had) { return had.end <= next.begin; });
    if (own.size() < kMaxActive) {
      own.push_back(next);
      continue;
    }
    const auto shortest =
        std::min_element(own.begin(), own.end(), [](const Interval& a, const Interval& b) { return a.end < b.end; });
    if (shortest->end < next.end) *shortest = next;
  }
  entries.clear();
}

void BlockRaces::report(const Entry& a, const Entry& b, uint64_t begin, uint64_t end) {
  const bool is_a_first = order_.block(a.segment) < order_.block(b.segment);
  const Entry& first = is_a_first ? a : b;
  const Entry& second = is_a_first ? b : a;
  std::pair pair(key_of(first.accesses), key_of(second.accesses));
  if (pair.second < pair.first) std::swap(pair.first, pair.second);
  if (!reported_.insert(std::move(pair)).second) return;
  const Site& site = second.accesses.site;
  const Site& other = first.accesses.site;
  const auto block_text = [this](const Entry& entry) { return "block " + std::to_string(order_.block(entry.segment)); };
  char address[32];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(begin));
  Report result;
  result.check = Check::kBlockcheck;
  result.what = std::string(site.name) + " of " + block_text(second) + " " + verb_of(second.accesses.access) +
                " what " + other.name + " of " + block_text(first) + " " + verb_of(first.accesses.access) +
                ", and neither SyncAll nor a signal orders the two";
  result.instruction = site.name;
  result.pipe = site.pipe;
  result.where = site.where;
  result.other = other.where;
  result.kernel = kernel_;
  result.block = order_.block(second.segment);
  result.details = {
      "both: " + std::to_string(end - begin) + " bytes at GM " + address, "in " + GlobalMemory(memory_).text(begin),
      "other access: " + std::string(other.name) + " on pipe " + name_of(other.pipe) + ", " + block_text(first) + ", " +
          line_of(other.where),
      "to fix it: give each block bytes of its own, SyncAll or IBSet and IBWait between the two, or SetAtomicAdd for "
      "both"};
  reports_.push_back(std::move(result));
}

}  // namespace softnpu::kernel::check
