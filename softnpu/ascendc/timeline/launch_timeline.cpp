#include "ascendc/timeline/launch_timeline.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "ascendc/sanitizer/settings.h"
#include "ascendc/timeline/simulation.h"
#include "ascendc/timeline/summary.h"
#include "ascendc/timeline/trace_file.h"
#include "base/no_destroy.h"

namespace softnpu::kernel::timeline {
namespace {

// Of all blocks of a launch, so that memory stays bounded.
constexpr size_t kMaxSteps = 4 << 20;

// The figures and the file, from the first launch on.
struct Setup {
  Setup() {
    const check::Settings& settings = check::settings();
    if (settings.timeline.empty()) return;
    if (!settings.figures.empty()) {
      std::ifstream file(settings.figures);
      if (!file) error = "SOFTNPU_KERNEL_FIGURES: " + settings.figures + " cannot be read";
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      if (error.empty()) error = override_figures(text, settings.figures, &figures);
      if (!error.empty()) return;
    }
    file = std::make_unique<TraceFile>(settings.timeline, figures);
    error = file->error();
  }
  Figures figures = public_figures();
  std::unique_ptr<TraceFile> file;
  std::string error;
};

Setup& setup() {
  static NoDestroy<Setup> result;
  return result.get();
}

}  // namespace

const char* error() { return setup().error.empty() ? nullptr : setup().error.c_str(); }

std::unique_ptr<LaunchTimeline> LaunchTimeline::begin(uint32_t blocks) {
  return setup().file == nullptr ? nullptr : std::make_unique<LaunchTimeline>(blocks);
}

void LaunchTimeline::add_blocks(uint32_t count) {
  const std::lock_guard lock(mutex_);
  traces_.resize(traces_.size() + count);
}

BlockTrace* LaunchTimeline::begin_block(uint32_t block) {
  const std::lock_guard lock(mutex_);
  traces_[block] = std::make_unique<BlockTrace>(&setup().figures, std::max<size_t>(kMaxSteps / traces_.size(), 1));
  return traces_[block].get();
}

void LaunchTimeline::finish(const std::string& kernel, const std::string& launched, bool is_whole) {
  const auto refuse = [&](const std::string& why) {
    std::fprintf(stderr, "========= timeline: kernel %s has none: %s\n", kernel.c_str(), why.c_str());
  };
  const bool has_all = std::all_of(traces_.begin(), traces_.end(), [](const auto& trace) { return trace != nullptr; });
  if (!has_all || !is_whole) return refuse("a block failed");
  if (std::any_of(traces_.begin(), traces_.end(), [](const auto& trace) { return trace->is_cut(); }))
    return refuse("its " + std::to_string(traces_.size()) + " blocks give out more than " + std::to_string(kMaxSteps) +
                  " instructions and flags; launch it for fewer elements");
  const Figures& figures = setup().figures;
  const Outcome outcome = simulate(traces_, figures);
  if (!outcome.is_complete) return refuse("a wait that nothing ends");
  const Summary summary = summarise(kernel, launched, traces_, outcome, figures);
  setup().file->add(summary, outcome, traces_, figures);
  std::fputs(summary.text().c_str(), stderr);
}

}  // namespace softnpu::kernel::timeline
