// Two devices, so that events order the work of two executors, with so little memory that it is exhausted.

#include <gtest/gtest.h>

#include <cstdlib>

// A failed allocation must be an error and must not end the process.
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
