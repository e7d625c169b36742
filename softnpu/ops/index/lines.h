#pragma once
// Walks an index tensor, a tensor of its shape, and a tensor that it indexes along one dimension: gather and scatter.

#include <atomic>
#include <functional>
#include <mutex>

#include "ops/index/table.h"
#include "ops/iterate/walk.h"
#include "workers/parallel.h"

namespace softnpu {

// The addresses for one element of an index.
struct LineAt {
  char* other;
  char* indexed;
  char* count;  // for the element at `indexed`; null without counts
};

class Lines {
 public:
  // `other` is at least as large as the index; `indexed` too, except in `dim`. `counts` may be null.
  Lines(const View& index, const View& other, const View& indexed, size_t dim, const View* counts);

  int64_t count() const { return walk_.count() * size_; }

  // Calls body(LineAt) for each index. The indices of one line are visited in order, on one thread. Fails at an index
  // out of range, without a call for it.
  template <typename Body>
  Status for_each(char* counts, int threads, const Body& body) const;

 private:
  Walk<4> walk_;  // index, other, indexed, counts: without dim
  Walk<4>::Offsets along_{};
  const char* index_;
  char* other_;
  char* indexed_;
  bool is_wide_;
  bool line_first_ = true;
  size_t dim_;
  int64_t size_;   // of the index in dim
  int64_t limit_;  // of the indexed tensor in dim
};

template <typename Body>
Status Lines::for_each(char* counts, int threads, const Body& body) const {
  std::mutex mutex;  // guards status
  Status status;
  const auto visit = [&](const Walk<4>::Offsets& at, int64_t i) {
    const int64_t index = load_index(index_ + at[0] + i * along_[0], is_wide_);
    if (index < 0 || index >= limit_) {
      std::lock_guard lock(mutex);
      if (status.is_ok()) status = out_of_range(index, dim_, limit_, false);
      return;
    }
    body(LineAt{other_ + at[1] + i * along_[1], indexed_ + at[2] + index * along_[2],
                counts == nullptr ? nullptr : counts + at[3] + index * along_[3]});
  };
  const int64_t grain = std::max<int64_t>(1, kGrainElements / 4 / std::max<int64_t>(size_, 1));
  parallel_for(walk_.count(), grain, threads, [&](int64_t first, int64_t last) {
    if (line_first_) {
      walk_.for_each(first, last - first, [&](const Walk<4>::Offsets& at) {
        for (int64_t i = 0; i < size_; ++i) visit(at, i);
      });
    } else {
      for (int64_t i = 0; i < size_; ++i) {
        walk_.for_each(first, last - first, [&](const Walk<4>::Offsets& at) { visit(at, i); });
      }
    }
  });
  return status;
}

}  // namespace softnpu
