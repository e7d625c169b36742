// Every allocation, thread start and system call of the runtime fails in turn. Each failure must lead to success or to
// one code with a message, and the next run in the same process must work.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <cstdio>
#include <string>

#include "fault/inject.h"
#include "fault/scenario.h"
#include "sanitizers.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace fault {
namespace {

constexpr unsigned kWatchdogSeconds = 120;

enum ExitCode { kUntouched = 10, kDone, kRefused, kBroken };

bool leaks() {
#ifdef __SANITIZE_ADDRESS__
  return __lsan_do_recoverable_leak_check() != 0;
#else
  return false;
#endif
}

// In a separate process, since a device is created once per process.
ExitCode run_child(Mode mode, uint64_t number) {
  alarm(kWatchdogSeconds);  // a hang ends by a signal
  arm(mode, number);
  const Outcome outcome = run_scenario();
  const uint64_t failures = disarm();
  if (outcome == Outcome::kBroken || !clean_up()) return kBroken;
  if (run_scenario() != Outcome::kDone || !clean_up()) {
    std::fprintf(stderr, "the run without failures failed\n");
    return kBroken;
  }
  if (leaks()) return kBroken;
  if (failures == 0) return outcome == Outcome::kDone ? kUntouched : kBroken;
  return outcome == Outcome::kDone ? kDone : kRefused;
}

std::string end_of(int status) {
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGALRM ? "hung" : "died of signal " + std::to_string(WTERMSIG(status));
  }
  return "ended with " + std::to_string(WEXITSTATUS(status));
}

// Lets call 1, 2, 3, ... fail, until a run makes fewer calls than that.
void fail_each(Mode mode) {
  int refused = 0;
  for (uint64_t number = 1;; ++number) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const ExitCode code = run_child(mode, number);
      if (code == kBroken) std::fprintf(stderr, "where %s failed\n", first_failed());
      _exit(code);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    EXPECT_TRUE(code == kUntouched || code == kDone || code == kRefused)
        << "with call " << number << " failing the process " << end_of(status);
    refused += code == kRefused ? 1 : 0;
    if (code == kUntouched) {
      EXPECT_GT(refused, 50);
      std::printf("%lu calls failed in turn, %d of them with an error\n", static_cast<unsigned long>(number - 1),
                  refused);
      return;
    }
    if (::testing::Test::HasFailure() && number > 2000) return;
  }
}

TEST(FaultTest, EachCallFailsOnce) { fail_each(Mode::kOnce); }

TEST(FaultTest, EachCallAndAllAfterItFail) { fail_each(Mode::kFromThenOn); }

}  // namespace
}  // namespace fault
