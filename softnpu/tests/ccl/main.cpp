// Collectives. The executable is also the program of the ranks that run in processes of their own.

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "ccl/processes.h"

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // a rank may end before it has read everything
  if (ccl_test::run_as_rank(argc, argv)) return 0;
  setenv("SOFTNPU_DEVICE_COUNT", "4", 0);
  setenv("SOFTNPU_HBM", "256M", 0);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
