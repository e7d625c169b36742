#include "base/threads.h"

#include <omp.h>

#include <algorithm>

#include "acl/acl_rt.h"

namespace softnpu {
namespace {

thread_local int of_launcher = 0;  // 0: no launched operator runs

}  // namespace

int most_threads() {
  if (of_launcher != 0) return of_launcher;
  uint32_t cores = 1;
  if (aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores) != ACL_SUCCESS) return 1;
  return std::clamp(static_cast<int>(cores), 1, omp_get_max_threads());
}

LauncherThreads::LauncherThreads(int threads) : previous_(of_launcher) { of_launcher = threads; }
LauncherThreads::~LauncherThreads() { of_launcher = previous_; }

}  // namespace softnpu
