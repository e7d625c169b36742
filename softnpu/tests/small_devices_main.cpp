// Two devices, so that events order the work of two executors; with little memory, so that it runs out.

#include <gtest/gtest.h>

#include <cstdlib>

// Memory that is asked for and not to be had is an error to report, not the end of the process.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1:hard_rss_limit_mb=3000";
}
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {
  return "allocator_may_return_null=1:halt_on_error=1";
}

int main(int argc, char** argv) {
  setenv("SOFTNPU_DEVICE_COUNT", "2", 0);
  setenv("SOFTNPU_HBM", "256M", 0);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
