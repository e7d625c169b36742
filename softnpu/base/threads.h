#pragma once
// How many threads an operator may use: the limit of the thread that calls or launches it.

#include "acl/acl_base.h"

namespace softnpu {

// The smaller of the calling thread's core limit (aclrtGetResInCurrentThread) and its OpenMP limit
// (omp_set_num_threads, torch.set_num_threads). While it runs a launched operator: those of the launching thread. At
// least 1.
ACL_FUNC_VISIBILITY int most_threads();

// While an instance lives, most_threads() returns `threads` on this thread.
class LauncherThreads {
 public:
  explicit LauncherThreads(int threads);
  LauncherThreads(const LauncherThreads&) = delete;
  LauncherThreads& operator=(const LauncherThreads&) = delete;
  ~LauncherThreads();

 private:
  const int previous_;
};

}  // namespace softnpu
