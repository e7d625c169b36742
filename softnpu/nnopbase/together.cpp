#include "nnopbase/together.h"

#include <algorithm>
#include <optional>

#include "base/small_vector.h"

namespace softnpu {
namespace {

using Memory = std::vector<SweepMemory>;

bool is_same_place(const SweepMemory& a, const SweepMemory& b) {
  return a.begin == b.begin && a.end == b.end && a.element_bytes == b.element_bytes && a.first == b.first;
}

bool overlaps(const SweepMemory& a, const SweepMemory& b) { return a.begin < b.end && b.begin < a.end; }

bool touches(const Memory& all, const SweepMemory& place) {
  return std::ranges::any_of(all, [&](const SweepMemory& memory) { return overlaps(memory, place); });
}

// What a link touches, a producer's result left out, and the one place that holds what it makes.
struct Touched {
  Memory all;
  std::optional<SweepMemory> result;
};

// A sweep's result is what it writes element by element, if that is one place that its elements begin with.
std::optional<SweepMemory> result_of(const Sweep& sweep, const Memory& all) {
  std::optional<SweepMemory> result;
  for (const SweepMemory& memory : all) {
    if (!memory.is_written || memory.element_bytes == 0) continue;
    if (result.has_value()) return std::nullopt;
    result = memory;
  }
  const bool may_move = result.has_value() && result->first == 0 && sweep.may_move() &&
                        result->end - result->begin == sweep.count() * int64_t{result->element_bytes};
  return may_move ? result : std::nullopt;
}

Touched touched_by(const Link& link) {
  Touched touched;
  if (link.producer != nullptr) {
    touched.result = link.producer->result();
    link.producer->add_memory(link.workspace, &touched.all);
  } else {
    link.sweep->add_memory(&touched.all);
    touched.result = result_of(*link.sweep, touched.all);
  }
  return touched;
}

// Links [first, last], each of which makes what the next one goes over, and nobody else: all of it lies at `place`, but
// for what the last one makes.
struct Chain {
  size_t first = 0;
  size_t last = 0;
  char* place = nullptr;
};

class Chains {
 public:
  explicit Chains(std::span<const Link> links) : links_(links) {
    for (const Link& link : links) touched_.push_back(touched_by(link));
  }

  size_t size() const { return links_.size(); }
  void drop_last() {
    links_ = links_.first(links_.size() - 1);
    touched_.pop_back();
  }
  const Memory& memory(size_t i) const { return touched_[i].all; }
  const void* result(size_t i) const { return touched_[i].result->begin; }

  // The longest chain from link `first` on, of one link where there is none.
  Chain from(size_t first) const {
    for (size_t last = reach(first); last > first; --last) {
      if (char* place = place_of(first, last)) return {first, last, place};
    }
    return {first, first, nullptr};
  }

 private:
  // Whether what link i makes is not to be seen once all links are done.
  bool is_dropped(size_t i) const {
    return links_[i].seen_within <= links_.size() || is_same_place(*touched_[i].result, *touched_[i + 1].result);
  }

  // Up to which link each makes what the next one reads, and nothing has to be seen.
  size_t reach(size_t first) const {
    size_t last = first;
    while (last + 1 < links_.size()) {
      const std::optional<SweepMemory>& made = touched_[last].result;
      const std::optional<SweepMemory>& next = touched_[last + 1].result;
      if (!made || !next || made->element_bytes != next->element_bytes || !is_dropped(last)) break;
      const bool is_read = std::ranges::any_of(
          touched_[last + 1].all, [&](const SweepMemory& m) { return !m.is_written && is_same_place(m, *made); });
      if (!is_read) break;
      ++last;
    }
    return last;
  }

  // Where the chain's values may lie: the last result's place, or an earlier one's. Null where somebody else touches
  // one of these places meanwhile, or what was made there later on.
  char* place_of(size_t first, size_t last) const {
    for (size_t made = first; made <= last; ++made) {
      for (size_t i = first + 1; i < links_.size(); ++i) {
        if (!leaves_alone(i, first, last, *touched_[made].result)) return nullptr;
      }
    }
    for (size_t made = last + 1; made-- > first;) {
      const SweepMemory& place = *touched_[made].result;
      if (is_free_for_producer(first, place)) return const_cast<char*>(place.begin);
    }
    return nullptr;
  }

  // Whether link i touches `place`, one of the chain's, as a part of the chain only.
  bool leaves_alone(size_t i, size_t first, size_t last, const SweepMemory& place) const {
    if (i > last && is_same_place(place, *touched_[last].result)) return true;
    return std::ranges::none_of(touched_[i].all, [&](const SweepMemory& memory) {
      if (!overlaps(memory, place)) return false;
      if (i <= first || i > last) return true;
      const SweepMemory& expected = memory.is_written ? *touched_[i].result : *touched_[i - 1].result;
      return !is_same_place(memory, expected);
    });
  }

  // The producer is done before the first sweep begins: where else than at its own place it may write.
  bool is_free_for_producer(size_t first, const SweepMemory& place) const {
    const Link& link = links_[first];
    if (link.producer == nullptr || is_same_place(place, *touched_[first].result)) return true;
    return !touches(touched_[first].all, place);
  }

  std::span<const Link> links_;
  std::vector<Touched> touched_;
};

}  // namespace

size_t count_together(std::span<const Link> links) {
  SmallVector<const Sweep*, 16> sweeps;
  for (size_t i = links[0].producer != nullptr ? 1 : 0; i < links.size() && links[i].sweep != nullptr; ++i) {
    sweeps.push_back(links[i].sweep);
  }
  if (links[0].producer == nullptr) return sweeps.empty() ? 1 : count_together({sweeps.data(), sweeps.size()});
  if (sweeps.empty()) return 1;
  Chains chains(links.first(count_together({sweeps.data(), sweeps.size()}) + 1));
  while (chains.size() > 1 && chains.from(0).last == 0) chains.drop_last();
  return chains.size();
}

namespace {

// Links as they run.
struct Ready {
  char* made_at = nullptr;                           // what the producer makes
  SmallVector<const Sweep*, 16> sweeps;              // in their order
  std::vector<std::unique_ptr<const Sweep>> copies;  // that some of these are
};

Ready make_ready(std::span<const Link> links, const Chains& chains) {
  Ready ready;
  for (size_t i = 0; i < links.size();) {
    const Chain chain = chains.from(i);
    for (; i <= chain.last; ++i) {
      if (const Producer* producer = links[i].producer) {
        ready.made_at = chain.place != nullptr ? chain.place : const_cast<char*>(producer->result().begin);
        continue;
      }
      const Sweep* sweep = links[i].sweep;
      if (chain.place != nullptr) {
        const bool reads = i > chain.first;
        ready.copies.push_back(sweep->moved({reads ? chains.result(i - 1) : nullptr, reads ? chain.place : nullptr,
                                             i < chain.last ? chain.place : nullptr}));
        sweep = ready.copies.back().get();
      }
      if (auto prepared = sweep->prepared()) {
        ready.copies.push_back(std::move(prepared));
        sweep = ready.copies.back().get();
      }
      ready.sweeps.push_back(sweep);
    }
  }
  return ready;
}

// Whether the sweeps leave alone what the producer touches beside what it makes.
bool are_apart(const Memory& producers, const Ready& ready) {
  Memory swept;
  for (const Sweep* sweep : ready.sweeps) sweep->add_memory(&swept);
  return std::ranges::none_of(
      swept, [&](const SweepMemory& memory) { return memory.is_written && touches(producers, memory); });
}

}  // namespace

void run_together(std::span<const Link> links) {
  const Chains chains(links);
  const Ready ready = make_ready(links, chains);
  const std::span<const Sweep* const> sweeps(ready.sweeps.data(), ready.sweeps.size());
  const auto sweep = [&](int64_t first, int64_t last) { sweeps[0]->run_together(sweeps, first, last); };
  const Producer* producer = links[0].producer;
  if (producer == nullptr) return sweep(0, sweeps[0]->count());
  if (are_apart(chains.memory(0), ready)) return producer->make(links[0].workspace, ready.made_at, sweep);
  producer->make(links[0].workspace, ready.made_at, [](int64_t, int64_t) {});
  sweep(0, sweeps[0]->count());
}

}  // namespace softnpu
