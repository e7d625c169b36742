#include "core/captured_generators.h"

#include <aclnnop/aclnn_inplace_adds.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "core/aclnn.h"
#include "core/capture.h"
#include "core/device.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

// The graphs that are being captured.
struct Ongoing {
  std::mutex mutex;  // guards `graphs` and the entries of each
  std::map<aclmdlRI, CapturedGenerators*> graphs;
};

Ongoing& ongoing() {
  static auto& instance = *std::make_unique<Ongoing>().release();
  return instance;
}

void add_to(c10::DeviceIndex device, const at::Tensor& number, int64_t value) {
  static const AclnnOp<decltype(aclnnInplaceAddsGetWorkspaceSize)> op("aclnnInplaceAdds");
  op(device, number, at::Scalar(value), at::Scalar(int64_t{1}));
}

}  // namespace

CapturedGenerators::~CapturedGenerators() {
  end();
  if (in_bad_fork()) return;
  for (const Entry& entry : entries_) {
    try {
      entry.state->release();
    } catch (const std::exception& e) {
      TORCH_WARN("the memory of a graph's generator was not released: ", e.what());
    }
  }
}

void CapturedGenerators::add(State state) {
  TORCH_CHECK(!is_capturing_, "generators are registered before the capture begins");
  if (std::ranges::any_of(entries_, [&](const Entry& entry) { return entry.state == state; })) return;
  entries_.reserve(entries_.size() + 1);
  state->hold();
  entries_.push_back({std::move(state)});
}

void CapturedGenerators::begin(aclmdlRI model) {
  std::lock_guard lock(ongoing().mutex);
  for (Entry& entry : entries_) entry.drawn = 0;
  ongoing().graphs.emplace(model, this);
  is_capturing_ = true;
}

void CapturedGenerators::end() noexcept {
  if (!std::exchange(is_capturing_, false)) return;
  std::lock_guard lock(ongoing().mutex);
  std::erase_if(ongoing().graphs, [this](const auto& graph) { return graph.second == this; });
}

void CapturedGenerators::begin_replay(c10::Stream stream) {
  const bool is_captured = capture_of(stream) != nullptr;
  for (Entry& entry : entries_) {
    if (entry.drawn == 0) continue;
    if (!is_captured) {
      entry.state->begin_replay(stream, entry.drawn);
      continue;
    }
    entry.before = CapturedDraws::advance(*entry.state, entry.drawn).add;
    if (entry.before != 0) {
      add_to(stream.device_index(), entry.state->memory().offset, static_cast<int64_t>(entry.before));
    }
  }
}

void CapturedGenerators::end_replay(c10::Stream stream) {
  for (Entry& entry : entries_) {
    if (const auto before = static_cast<int64_t>(std::exchange(entry.before, 0)); before != 0) {
      add_to(stream.device_index(), entry.state->memory().offset, -before);
    }
  }
}

CapturedGenerators::Entry* CapturedDraws::find(const GeneratorState& state) {
  const aclmdlRI model = capture_of(current_stream(state.device()));
  const auto graph = ongoing().graphs.find(model);
  if (graph == ongoing().graphs.end()) return nullptr;
  auto& entries = graph->second->entries_;
  const auto entry = std::ranges::find_if(entries, [&](const auto& held) { return held.state.get() == &state; });
  return entry == entries.end() ? nullptr : &*entry;
}

std::optional<uint64_t> CapturedDraws::offset(const GeneratorState& state) {
  if (!any_capture()) return std::nullopt;
  std::lock_guard lock(ongoing().mutex);
  const auto* entry = find(state);
  return entry == nullptr ? std::nullopt : std::optional(entry->drawn);
}

void CapturedDraws::set_offset(const GeneratorState& state, uint64_t offset) {
  std::lock_guard lock(ongoing().mutex);
  if (auto* entry = find(state); entry != nullptr) entry->drawn = offset;
}

CapturedCounter CapturedDraws::advance(const GeneratorState& state, uint64_t step) {
  std::lock_guard lock(ongoing().mutex);
  auto* entry = find(state);
  TORCH_CHECK(entry != nullptr,
              "the capture draws from a generator that its graph does not hold: call "
              "graph.register_generator_state(generator) before the capture. The default generator of the device is "
              "held by itself.");
  const uint64_t before = std::exchange(entry->drawn, entry->drawn + step);
  return {state.memory(), before};
}

}  // namespace torch_npu
