#include "ops/core/tuning/choose.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fusion/fusion_root.h"
#include "ops/core/tuning/algorithm.h"

namespace softnpu {
namespace {

// A workspace of this size is no reason against a candidate.
constexpr int64_t kSmallWorkspace = int64_t{2} << 20;

// The implementations that are timed, which one run shares.
struct Candidates {
  std::shared_ptr<Choice> choice;
  std::vector<Implementation> implementations;  // in the order of the choice

  // Runs the one that serves, or all of them, by run(implementation, is_timed). False if the result is in place
  // already, without the last call.
  template <typename Run>
  bool decide(const Run& run, size_t* chosen) const {
    bool is_computed = false;
    *chosen = choice->decide(
        [&](size_t i) {
          Tuner::get().sleep_if_delayed(choice->name(static_cast<int>(i)));
          run(implementations[i]);
        },
        &is_computed);
    return !is_computed;
  }
};

class TunedRoot final : public FusionRoot {
 public:
  // All implementations are fusion roots.
  explicit TunedRoot(std::shared_ptr<const Candidates> candidates) : candidates_(std::move(candidates)) {}

  MemoryAccess output() const override { return root(0).output(); }
  void add_accesses(const void* workspace, std::vector<MemoryAccess>* to) const override {
    for (size_t i = 0; i < candidates_->implementations.size(); ++i) root(i).add_accesses(workspace, to);
  }
  void compute(void* workspace, char* to, const OnReady& on_ready) const override {
    const auto time = [&](const Implementation& implementation) {
      implementation.fusible->as_root()->compute(workspace, to, [](int64_t, int64_t) {});
    };
    size_t chosen = 0;
    if (candidates_->decide(time, &chosen)) return root(chosen).compute(workspace, to, on_ready);
    const MemoryAccess memory = output();
    on_ready(0, (memory.end - memory.begin) / static_cast<int64_t>(memory.element_bytes));
  }

 private:
  const FusionRoot& root(size_t i) const { return *candidates_->implementations[i].fusible->as_root(); }

  const std::shared_ptr<const Candidates> candidates_;
};

Implementation tuned(std::shared_ptr<Choice> choice, std::vector<Implementation> implementations) {
  Implementation all;
  bool are_fusible = true;
  for (const Implementation& one : implementations) {
    all.workspace_bytes = larger(all.workspace_bytes, one.workspace_bytes);
    are_fusible = are_fusible && one.fusible != nullptr && one.fusible->as_root() != nullptr;
  }
  const auto candidates = std::make_shared<const Candidates>(Candidates{std::move(choice), std::move(implementations)});
  if (are_fusible) all.fusible = std::make_shared<const TunedRoot>(candidates);
  all.run = [candidates](char* workspace) {
    const auto time = [workspace](const Implementation& implementation) { implementation.run(workspace); };
    size_t chosen = 0;
    if (candidates->decide(time, &chosen)) candidates->implementations[chosen].run(workspace);
  };
  return all;
}

// What the fixed rule needs with and without the permission to lose precision: limits for candidates, since what the
// fastest takes stays with the program.
struct MemoryLimit {
  Checked workspace_bytes = kSmallWorkspace;
  uint64_t packed_bytes = 0;

  void raise(const Implementation& rule) {
    workspace_bytes = larger(workspace_bytes, rule.workspace_bytes);
    packed_bytes = std::max(packed_bytes, rule.packed_bytes);
  }
  bool allows(const Implementation& one) const {
    return one.workspace_bytes.fits() && one.workspace_bytes.value() <= workspace_bytes.value() &&
           one.packed_bytes <= packed_bytes;
  }
};

std::optional<Implementation> first_of(const TunedWork& work, std::span<const Offer> offers) {
  Attempt<Implementation> result = first_implementation<Implementation>(
      offers, [](const Offer& offer) { return offer.make(); }, work.describe);
  if (!result) return std::nullopt;
  return *std::move(result);
}

}  // namespace

bool is_separate(const MemoryAccess& memory, std::span<const MemoryAccess> others) {
  return std::ranges::none_of(
      others, [&](const MemoryAccess& other) { return memory.begin < other.end && other.begin < memory.end; });
}

std::optional<Implementation> choose_implementation(const TunedWork& work, std::span<const Offer> offers) {
  std::shared_ptr<Choice> choice = Tuner::get().find(work.key);
  if (choice != nullptr && choice->chosen() >= 0) {
    choice->count_use();
    const std::string& name = choice->name(choice->chosen());
    const auto chosen = std::ranges::find_if(offers, [&](const Offer& offer) { return name == offer.name; });
    if (chosen != offers.end()) {
      if (Attempt<Implementation> result = chosen->make()) {
        if (AlgorithmLog::is_on()) AlgorithmLog::get().add(work.describe(), chosen->name, {});
        return *std::move(result);
      }
    }
    return first_of(work, offers);
  }
  if (!work.is_repeatable) return first_of(work, offers);
  std::vector<std::string> names;
  std::vector<Implementation> result;
  MemoryLimit limit;
  bool has_rule = false;
  std::vector<RefusedAlgorithm> refused;
  const char* first = nullptr;
  for (const Offer& offer : offers) {
    Attempt<Implementation> one = offer.make();
    if (!one) {
      if (names.empty()) refused.push_back({offer.name, one.why()});
      continue;
    }
    if (result.empty() || (!offer.may_lose && !has_rule)) limit.raise(*one);
    has_rule = has_rule || !offer.may_lose;
    if (!limit.allows(*one)) continue;
    if (names.empty()) first = offer.name;
    names.emplace_back(offer.name);
    result.push_back(*std::move(one));
  }
  if (result.empty()) return std::nullopt;
  if (result.size() == 1 && AlgorithmLog::is_on()) AlgorithmLog::get().add(work.describe(), first, refused);
  choice = Tuner::get().open(work.key, work.describe, names);
  if (choice == nullptr || result.size() == 1 || !choice->is_between(names)) return std::move(result[0]);
  choice->count_use();
  return tuned(std::move(choice), std::move(result));
}

}  // namespace softnpu
