#include "fusion/group.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/small_vector.h"
#include "fusion/aliasing.h"
#include "fusion/elementwise_loop.h"
#include "fusion/fusion_root.h"
#include "fusion/run_loops.h"

namespace softnpu {
namespace {

using Accesses = std::vector<MemoryAccess>;
using Loops = SmallVector<const ElementwiseLoop*, 16>;

bool is_same_buffer(const MemoryAccess& a, const MemoryAccess& b) {
  return a.begin == b.begin && a.end == b.end && a.element_bytes == b.element_bytes && a.first == b.first;
}

bool overlaps(const MemoryAccess& a, const MemoryAccess& b) { return a.begin < b.end && b.begin < a.end; }

bool overlaps_any(const Accesses& all, const MemoryAccess& buffer) {
  return std::ranges::any_of(all, [&](const MemoryAccess& access) { return overlaps(access, buffer); });
}

// A loop's output is the one buffer that it writes element by element from the first on.
std::optional<MemoryAccess> output_of(const ElementwiseLoop& loop, const Accesses& accesses) {
  std::optional<MemoryAccess> output;
  for (const MemoryAccess& access : accesses) {
    if (!access.is_written || access.element_bytes == 0) continue;
    if (output.has_value()) return std::nullopt;
    output = access;
  }
  const bool can_rebind = output.has_value() && output->first == 0 && loop.can_rebind() &&
                          output->end - output->begin == loop.count() * int64_t{output->element_bytes};
  return can_rebind ? output : std::nullopt;
}

bool has_root(std::span<const FusionStage> stages) { return stages[0].fusible->as_root() != nullptr; }

}  // namespace

struct FusionGroup::Bound {
  char* root_output = nullptr;
  Loops loops;
  std::vector<std::unique_ptr<const ElementwiseLoop>> copies;  // that some of the loops are
};

FusionGroup::StageMemory FusionGroup::memory_of(const FusionStage& stage) {
  StageMemory memory;
  if (const FusionRoot* root = stage.fusible->as_root()) {
    memory.output = root->output();
    root->add_accesses(stage.workspace, &memory.accesses);
  } else {
    const ElementwiseLoop* loop = stage.fusible->as_loop();
    loop->add_accesses(&memory.accesses);
    memory.output = output_of(*loop, memory.accesses);
  }
  return memory;
}

FusionGroup::FusionGroup(std::span<const FusionStage> stages) : stages_(stages.begin(), stages.end()) {
  for (const FusionStage& stage : stages) memory_.push_back(memory_of(stage));
  find_dead_values();
}

// A root is fused only where its output is dead: a loop gains nothing by reading it at once otherwise. Stages at the
// end are removed until it is.
void FusionGroup::find_dead_values() {
  DeadValues dead = dead_values_from(0);
  while (has_root(stages_) && size() > 1 && dead.last == 0) {
    stages_.pop_back();
    memory_.pop_back();
    dead = dead_values_from(0);
  }
  dead_values_.push_back(dead);
  while (dead_values_.back().last + 1 < size()) dead_values_.push_back(dead_values_from(dead_values_.back().last + 1));
}

void FusionGroup::run() const {
  const Bound bound = bind();
  const std::span<const ElementwiseLoop* const> loops(bound.loops.data(), bound.loops.size());
  const auto run = [&](int64_t first, int64_t last) { run_loops(loops, first, last); };
  const FusionRoot* root = stages_[0].fusible->as_root();
  if (root == nullptr) return run(0, loops[0]->count());
  if (leaves_root_alone(loops)) return root->compute(stages_[0].workspace, bound.root_output, run);
  root->compute(stages_[0].workspace, bound.root_output, [](int64_t, int64_t) {});
  run(0, loops[0]->count());
}

FusionGroup::Bound FusionGroup::bind() const {
  Bound bound;
  for (const DeadValues& dead : dead_values_) {
    for (size_t i = dead.first; i <= dead.last; ++i) {
      if (const FusionRoot* root = stages_[i].fusible->as_root()) {
        bound.root_output = dead.buffer != nullptr ? dead.buffer : const_cast<char*>(root->output().begin);
        continue;
      }
      const ElementwiseLoop* loop = stages_[i].fusible->as_loop();
      if (dead.buffer != nullptr) {
        const bool reads = i > dead.first;
        bound.copies.push_back(loop->rebind({reads ? memory_[i - 1].output->begin : nullptr,
                                             reads ? dead.buffer : nullptr, i < dead.last ? dead.buffer : nullptr}));
        loop = bound.copies.back().get();
      }
      if (auto after_prologue = loop->prologue()) {
        bound.copies.push_back(std::move(after_prologue));
        loop = bound.copies.back().get();
      }
      bound.loops.push_back(loop);
    }
  }
  return bound;
}

// Whether the loops write nothing that the root reads, or writes beside its output: they may run on a part of the
// output while the root computes the rest.
bool FusionGroup::leaves_root_alone(std::span<const ElementwiseLoop* const> loops) const {
  Accesses accesses;
  for (const ElementwiseLoop* loop : loops) loop->add_accesses(&accesses);
  return std::ranges::none_of(accesses, [&](const MemoryAccess& access) {
    return access.is_written && overlaps_any(memory_[0].accesses, access);
  });
}

// The longest run of dead values that begins with stage `first`.
FusionGroup::DeadValues FusionGroup::dead_values_from(size_t first) const {
  for (size_t last = last_of_dead(first); last > first; --last) {
    if (char* buffer = shared_buffer(first, last)) return {first, last, buffer};
  }
  return {first, first, nullptr};
}

// Whether nobody reads stage i's output once the group is done.
bool FusionGroup::is_dead(size_t i) const {
  return stages_[i].last_reader < size() || is_same_buffer(*memory_[i].output, *memory_[i + 1].output);
}

// Up to which stage each one's dead output is the next one's input.
size_t FusionGroup::last_of_dead(size_t first) const {
  size_t last = first;
  while (last + 1 < size()) {
    const std::optional<MemoryAccess>& output = memory_[last].output;
    const std::optional<MemoryAccess>& next = memory_[last + 1].output;
    if (!output || !next || output->element_bytes != next->element_bytes || !is_dead(last)) break;
    const bool is_read = std::ranges::any_of(memory_[last + 1].accesses, [&](const MemoryAccess& access) {
      return !access.is_written && is_same_buffer(access, *output);
    });
    if (!is_read) break;
    ++last;
  }
  return last;
}

// The buffer for the values of stages [first, last]: the last output's, or an earlier one's. Null where another stage
// touches one of these buffers meanwhile, or what was written there later.
char* FusionGroup::shared_buffer(size_t first, size_t last) const {
  for (size_t writer = first; writer <= last; ++writer) {
    for (size_t i = first + 1; i < size(); ++i) {
      if (!leaves_buffer_alone(i, first, last, *memory_[writer].output)) return nullptr;
    }
  }
  for (size_t writer = last + 1; writer-- > first;) {
    const MemoryAccess& buffer = *memory_[writer].output;
    if (root_may_write(first, buffer)) return const_cast<char*>(buffer.begin);
  }
  return nullptr;
}

// Whether stage i touches `buffer`, an output of stages [first, last], only as one of these stages.
bool FusionGroup::leaves_buffer_alone(size_t i, size_t first, size_t last, const MemoryAccess& buffer) const {
  if (i > last && is_same_buffer(buffer, *memory_[last].output)) return true;
  return std::ranges::none_of(memory_[i].accesses, [&](const MemoryAccess& access) {
    if (!overlaps(access, buffer)) return false;
    if (i <= first || i > last) return true;
    const MemoryAccess& expected = access.is_written ? *memory_[i].output : *memory_[i - 1].output;
    return !is_same_buffer(access, expected);
  });
}

// A root may write another buffer than its own output's only where it reads nothing there.
bool FusionGroup::root_may_write(size_t first, const MemoryAccess& buffer) const {
  if (stages_[first].fusible->as_root() == nullptr || is_same_buffer(buffer, *memory_[first].output)) return true;
  return !overlaps_any(memory_[first].accesses, buffer);
}

std::optional<FusionGroup> FusionGroup::analyse(std::span<const FusionStage> stages) {
  const size_t roots = has_root(stages) ? 1 : 0;
  Loops loops;
  for (const FusionStage& stage : stages.subspan(roots)) {
    const ElementwiseLoop* loop = stage.fusible->as_loop();
    if (loop == nullptr) break;
    loops.push_back(loop);
  }
  if (loops.empty()) return std::nullopt;
  const size_t count = count_fusible_loops({loops.data(), loops.size()}) + roots;
  if (count == 1) return std::nullopt;
  FusionGroup group(stages.first(count));
  if (group.size() == 1) return std::nullopt;
  return group;
}

}  // namespace softnpu
