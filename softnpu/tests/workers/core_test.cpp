#include "workers/core.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace {

using softnpu::SteeredThread;

cpu_set_t cores_of_this_thread() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(sched_getaffinity(0, sizeof cores, &cores), 0);
  return cores;
}

TEST(SteeredThread, WakesOffItsWakersCoreThenRunsEverywhere) {
  const cpu_set_t all = cores_of_this_thread();
  std::promise<SteeredThread*> asleep;
  std::promise<int> woken;
  std::thread thread([&] {
    SteeredThread self;
    asleep.set_value(&self);
    const int core = woken.get_future().get();
    const cpu_set_t steered = cores_of_this_thread();
    if (CPU_COUNT(&all) > 1) {
      EXPECT_EQ(CPU_COUNT(&steered), CPU_COUNT(&all) - 1);
      EXPECT_NE(sched_getcpu(), core);
    }
    self.release();
    const cpu_set_t released = cores_of_this_thread();
    EXPECT_TRUE(CPU_EQUAL(&released, &all));
  });
  SteeredThread* sleeper = asleep.get_future().get();
  cpu_set_t here;
  CPU_ZERO(&here);
  const int core = sched_getcpu();
  CPU_SET(core, &here);
  ASSERT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
  sleeper->steer();
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  woken.set_value(core);
  thread.join();
}

}  // namespace
