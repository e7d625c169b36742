#include "ops/list/foreach/list_loop.h"

#include <algorithm>
#include <utility>

#include "workers/parallel.h"

namespace softnpu {

ListLoop::ListLoop(std::vector<std::shared_ptr<const ElementwiseLoop>> parts, double cost)
    : parts_(std::move(parts)), begins_{0}, cost_(cost) {
  for (const auto& part : parts_) begins_.push_back(begins_.back() + part->count());
}

void ListLoop::run_all() const {
  constexpr int64_t kGrain = int64_t{1} << 14;  // elements of the smallest piece for a thread
  parallel_for(count(), kGrain, threads_for(cost_), [this](int64_t first, int64_t last) { run(first, last); });
}

void ListLoop::add_accesses(std::vector<MemoryAccess>* to) const {
  for (size_t i = 0; i < parts_.size(); ++i) {
    const size_t known = to->size();
    parts_[i]->add_accesses(to);
    for (size_t k = known; k < to->size(); ++k) {
      if ((*to)[k].element_bytes != 0) (*to)[k].first += begins_[i];
    }
  }
}

void ListLoop::run(int64_t first, int64_t last) const {
  auto i = static_cast<size_t>(std::ranges::upper_bound(begins_, first) - begins_.begin()) - 1;
  for (; first < last; ++i) {
    const int64_t end = std::min(last, begins_[i + 1]);
    if (first < end) parts_[i]->run(first - begins_[i], end - begins_[i]);
    first = end;
  }
}

double ListLoop::cost_per_element() const { return cost_ / static_cast<double>(count()); }

}  // namespace softnpu
