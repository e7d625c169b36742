#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "sharing/other_process.h"

// The tests, or the other process of one (other_process.h). Devices are small, so that a test can use all memory.
int main(int argc, char** argv) {
  setenv("SOFTNPU_HBM", "64M", 1);
  if (argc == 3 && std::string_view(argv[1]) == "--role") return sharing::run_role(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
