#pragma once
// How many threads an operator may use: what the thread that calls or launches it is allowed.

#include "acl/acl_base.h"

namespace softnpu {

// The calling thread's limit of cores (aclrtGetResInCurrentThread) and its own (omp_set_num_threads,
// torch.set_num_threads); while it runs a launched operator, those of the thread that launched it. At least 1.
ACL_FUNC_VISIBILITY int most_threads();

// While it lives, most_threads() is `threads` on this thread.
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
