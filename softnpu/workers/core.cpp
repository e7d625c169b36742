#include "workers/core.h"

#include <unistd.h>

#include <utility>

namespace softnpu {

SteeredThread::SteeredThread() noexcept : id_(gettid()) {}

void SteeredThread::steer() noexcept {
  const int core = sched_getcpu();
  if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(id_, sizeof allowed_, &allowed_) != 0) return;
  cpu_set_t others = allowed_;
  CPU_CLR(core, &others);
  is_steered_ = CPU_COUNT(&others) > 0 && sched_setaffinity(id_, sizeof others, &others) == 0;
}

void SteeredThread::release() noexcept {
  if (std::exchange(is_steered_, false)) sched_setaffinity(id_, sizeof allowed_, &allowed_);
}

}  // namespace softnpu
