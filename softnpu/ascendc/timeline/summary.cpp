#include "ascendc/timeline/summary.h"

#include <algorithm>

#include "ascendc/sanitizer/report.h"
#include "ascendc/timeline/text.h"

namespace softnpu::kernel::timeline {
namespace {

// From so much of the bandwidth on, a kernel is bound by it, whichever pipes copy.
constexpr double kBoundShare = 0.8;
// Waits below are not printed.
constexpr double kMinShare = 0.01;

uint64_t distinct_bytes(const std::vector<std::unique_ptr<BlockTrace>>& blocks,
                        const check::ByteRanges& (BlockTrace::*ranges)() const) {
  check::ByteRanges all;
  for (const auto& block : blocks) {
    for (const auto& [begin, end] : (block.get()->*ranges)().all()) all.add(begin, end);
  }
  uint64_t bytes = 0;
  for (const auto& [begin, end] : all.all()) bytes += end - begin;
  return bytes;
}

}  // namespace

Summary summarise(std::string kernel, std::string launched, const std::vector<std::unique_ptr<BlockTrace>>& blocks,
                  const Outcome& outcome, const Figures& figures) {
  Summary created;
  created.kernel = std::move(kernel);
  created.launched = std::move(launched);
  created.blocks = static_cast<uint32_t>(blocks.size());
  created.cores = outcome.cores;
  created.cycles = outcome.cycles;
  created.microseconds = outcome.cycles / figures.frequency / 1e3;
  const double time = std::max(outcome.cycles, 1.0);
  const double of_cores = time * std::max(outcome.cores, 1u);
  created.global_share = outcome.global_bytes / (time * figures.hbm_bandwidth / figures.frequency);
  for (int i = 0; i < kPipes; ++i) created.busy[i] = outcome.busy[i] / of_cores;
  const auto most = std::max_element(created.busy.begin(), created.busy.end()) - created.busy.begin();
  created.bound = created.global_share >= kBoundShare ? "global memory"
                                                      : std::string("pipe ") + check::name_of(static_cast<Pipe>(most));
  for (const auto& [cause, cycles] : outcome.waits) created.waits.emplace_back(cause, cycles / of_cores);
  std::stable_sort(created.waits.begin(), created.waits.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  created.moved = static_cast<uint64_t>(outcome.global_bytes);
  created.needed = distinct_bytes(blocks, &BlockTrace::read) + distinct_bytes(blocks, &BlockTrace::written);
  created.is_cut = outcome.is_cut;
  return created;
}

std::string Summary::text() const {
  std::string result = format(
      "========= timeline: kernel %s, %u blocks on %u cores: %.0f cycles, %.2f us by a model, not a measurement\n",
      kernel.c_str(), blocks, cores, cycles, microseconds);
  result +=
      "=========     bound by " + bound + format("; %.0f%% of the bandwidth of global memory\n", global_share * 100);
  std::string list;
  for (int i = 0; i < kPipes; ++i) {
    if (busy[i] > 0) append_to_list(&list, format("%s %.0f%%", check::name_of(static_cast<Pipe>(i)), busy[i] * 100));
  }
  result += "=========     pipes are busy: " + list + "\n";
  list.clear();
  for (const auto& [cause, share] : waits) {
    if (share >= kMinShare) append_to_list(&list, format("%s %.0f%%", cause.c_str(), share * 100));
  }
  if (!list.empty()) result += "=========     waits: " + list + "\n";
  result += format("=========     global memory moves %llu bytes, %llu are needed at least",
                   static_cast<unsigned long long>(moved), static_cast<unsigned long long>(needed));
  if (needed > 0) result += format(": %.2f times", static_cast<double>(moved) / static_cast<double>(needed));
  result += "\n";
  if (is_cut) result += format("=========     the trace has the first %zu instructions alone\n", Outcome::kMaxSlices);
  if (!launched.empty()) result += "=========     launched at " + launched + "\n";
  return result;
}

std::string Summary::json() const {
  std::string pipes;
  for (int i = 0; i < kPipes; ++i)
    append_to_list(&pipes, format("\"%s\":%.6f", check::name_of(static_cast<Pipe>(i)), busy[i]), ",");
  std::string causes;
  for (const auto& [cause, share] : waits)
    append_to_list(&causes, format("%s:%.6f", quoted(cause).c_str(), share), ",");
  return format(R"("blocks":%u,"cores":%u,"cycles":%.3f,"microseconds":%.6f,"bound":%s,"global_share":%.6f,)", blocks,
                cores, cycles, microseconds, quoted(bound).c_str(), global_share) +
         format(R"("moved":%llu,"needed":%llu,"busy":{%s},"waits":{%s},"launched":%s,"model":"not a measurement")",
                static_cast<unsigned long long>(moved), static_cast<unsigned long long>(needed), pipes.c_str(),
                causes.c_str(), quoted(launched).c_str());
}

}  // namespace softnpu::kernel::timeline
