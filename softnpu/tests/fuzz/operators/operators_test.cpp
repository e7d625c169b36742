// Random calls of operators never crash, never hang, and fail only with aclnn's codes and a message. A case is an
// operator's number and a round. Its seed determines everything, so that a failure can be repeated from its message:
// SOFTNPU_FUZZ_OPERATOR=aclnnAdd SOFTNPU_FUZZ_SEED=3. SOFTNPU_FUZZ_SECONDS=600 runs longer.
//
// Operators on tensors that are huge by a stride of 0 would take too long: a child process launches them and exits
// after a moment. A workspace that is too small would corrupt memory immediately.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "fuzz/operators/arguments.h"
#include "fuzz/operators/callers.h"
#include "sanitizers.h"
#include "softnpu/softnpu.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace fuzz {
namespace {

constexpr auto kTime = std::chrono::seconds(by_build(15, 40));
constexpr unsigned kHangSeconds = by_build(20, 60);
constexpr unsigned kMomentSeconds = by_build(1, 3);
constexpr uint64_t kMaxWorkspace = uint64_t{1} << 26;

// The running case, for signal handlers: written by the test's thread, read when it is stopped.
std::array<char, 2048> current{};

void say_current() {
  (void)!write(STDERR_FILENO, current.data(), strnlen(current.data(), current.size()));
  (void)!write(STDERR_FILENO, "\n", 1);
}

void on_end() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  __sanitizer_set_death_callback(say_current);
  for (int number : {SIGALRM}) {
#else
  for (int number : {SIGALRM, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) {
#endif
    std::signal(number, [](int caught) {
      if (caught == SIGALRM) (void)!write(STDERR_FILENO, "hangs: ", 7);
      say_current();
      std::signal(caught, SIG_DFL);
      std::raise(caught == SIGALRM ? SIGABRT : caught);
    });
  }
}

// Codes of aclnn, and the runtime's code for exhausted memory.
bool is_sane(aclnnStatus status) {
  return status == ACLNN_SUCCESS || status / 1000 == 161 || status / 1000 == 361 || status / 1000 == 561 ||
         status == ACL_ERROR_BAD_ALLOC;
}

std::string recent_error() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

// Phase two of a plan, occasionally with a typical error of programs.
void launch(const Caller& caller, Numbers& numbers, uint64_t bytes, aclOpExecutor* executor, aclrtStream stream) {
  void* workspace = nullptr;
  if (bytes > kMaxWorkspace ||
      (bytes > 0 && aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS)) {
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
    return;
  }
  if (bytes > 0 && numbers.once_in(8)) {
    // An executor whose tensors have no addresses says that first.
    const aclnnStatus small = caller.launch(workspace, bytes - 1, executor, stream);
    EXPECT_TRUE(small == ACLNN_ERR_PARAM_INVALID || small == ACLNN_ERR_PARAM_NULLPTR)
        << small << " too small a workspace";
    EXPECT_EQ(caller.launch(nullptr, bytes, executor, stream), ACLNN_ERR_PARAM_NULLPTR);
  }
  const aclnnStatus status = caller.launch(workspace, bytes, executor, stream);
  EXPECT_TRUE(is_sane(status)) << status << " from phase two: " << recent_error();
  if (status == ACLNN_ERR_PARAM_NULLPTR) {  // a tensor has no address: the executor waits for one
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
  } else if (numbers.once_in(8)) {
    EXPECT_EQ(caller.launch(workspace, bytes, executor, stream), ACLNN_ERR_PARAM_INVALID) << "launched twice";
  }
  const aclError end = aclrtSynchronizeStream(stream);
  EXPECT_TRUE(is_sane(end)) << end << " from the stream: " << recent_error();
  if (workspace != nullptr) {
    EXPECT_EQ(aclrtFree(workspace), ACL_SUCCESS);
  }
}

// Whether this process launches a huge call.
bool is_child() { return std::getenv("SOFTNPU_FUZZ_MOMENT") != nullptr; }

// Ends this process successfully after a moment, in any state.
void end_after_a_moment() {
  std::signal(SIGALRM, [](int) { _exit(0); });
  alarm(kMomentSeconds);
}

// Launches the case in a child process.
void launch_elsewhere(const Caller& caller, unsigned seed) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    setenv("SOFTNPU_FUZZ_MOMENT", "1", 1);
    setenv("SOFTNPU_FUZZ_OPERATOR", caller.name, 1);
    setenv("SOFTNPU_FUZZ_SEED", std::to_string(seed).c_str(), 1);
    execl("/proc/self/exe", "softnpu_operator_fuzz_tests", "--gtest_brief=1", nullptr);
    _exit(127);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0) << "a process that launches it ended with " << state;
}

// A planner that lists the parts of huge tensors must exhaust its own limit, not the machine's memory.
void limit_addresses() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &limit), 0);
  limit.rlim_cur = rlim_t{4} << 30;
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
#endif
}

struct Counts {
  uint64_t cases = 0;
  uint64_t accepted = 0;
  uint64_t huge = 0;
  std::set<std::string> operators;  // those that accepted a call at least once
};

void call(const Caller& caller, unsigned seed, aclrtStream stream, Counts* counts) {
  std::seed_seq mixed(caller.name, caller.name + std::strlen(caller.name));
  std::array<uint32_t, 1> name_seed{};
  mixed.generate(name_seed.begin(), name_seed.end());
  Numbers numbers(name_seed[0] + seed);
  std::snprintf(current.data(), current.size(), "SOFTNPU_FUZZ_OPERATOR=%s SOFTNPU_FUZZ_SEED=%u", caller.name, seed);
  alarm(kHangSeconds);
  Arguments arguments(caller, &numbers);
  std::snprintf(current.data(), current.size(), "SOFTNPU_FUZZ_OPERATOR=%s SOFTNPU_FUZZ_SEED=%u: %s", caller.name, seed,
                arguments.message().c_str());
  const bool is_destroyed = numbers.once_in(64) && arguments.destroy_one();
  uint64_t bytes = 0;
  aclOpExecutor* executor = nullptr;
  const aclnnStatus status = caller.plan(arguments.values(), &bytes, &executor);
  EXPECT_TRUE(is_sane(status)) << status << ": " << recent_error();
  if (is_destroyed) {
    EXPECT_EQ(status, ACLNN_ERR_PARAM_INVALID) << "an argument was destroyed";
  }
  if (arguments.overlaps()) {
    EXPECT_NE(status, ACLNN_SUCCESS) << "elements of a result share a place";
  }
  ++counts->cases;
  if (status == ACLNN_SUCCESS) {
    ++counts->accepted;
    counts->operators.insert(caller.name);
    if (!arguments.is_huge()) {
      launch(caller, numbers, bytes, executor, stream);
    } else if (is_child()) {
      end_after_a_moment();
      launch(caller, numbers, bytes, executor, stream);
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    } else {
      ++counts->huge;
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_SUCCESS);
      if (bytes <= kMaxWorkspace) launch_elsewhere(caller, seed);
    }
  } else {
    EXPECT_FALSE(recent_error().empty());
  }
  alarm(0);
  if (::testing::Test::HasFailure()) say_current();
}

void say_never_taken(const Counts& counts) {
  std::string names;
  size_t missing = 0;
  for (const Caller& caller : callers()) {
    if (counts.operators.contains(caller.name)) continue;
    ++missing;
    names += std::string(" ") + caller.name;
  }
  std::printf("%zu operators were never taken%s%s\n", missing, missing == 0 ? "" : ":", names.c_str());
}

TEST(OperatorFuzzTest, NeverCrashes) {
  on_end();
  (void)aclInit(nullptr);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  limit_addresses();
  const char* only = std::getenv("SOFTNPU_FUZZ_OPERATOR");
  const char* seed = std::getenv("SOFTNPU_FUZZ_SEED");
  Counts counts;
  const char* seconds = std::getenv("SOFTNPU_FUZZ_SECONDS");
  const auto time = seconds == nullptr ? kTime : std::chrono::seconds(std::strtol(seconds, nullptr, 10));
  const auto end = std::chrono::steady_clock::now() + time;
  unsigned round = seed == nullptr ? 0 : static_cast<unsigned>(std::strtoul(seed, nullptr, 10));
  do {
    for (const Caller& caller : callers()) {
      if (only != nullptr && std::strcmp(only, caller.name) != 0) continue;
      call(caller, round, stream, &counts);
      ASSERT_FALSE(HasFailure());
    }
    ++round;
  } while (seed == nullptr && std::chrono::steady_clock::now() < end);
  std::printf("%llu calls, of which %llu were taken, %llu of them huge, by %zu of %zu operators\n",
              static_cast<unsigned long long>(counts.cases), static_cast<unsigned long long>(counts.accepted),
              static_cast<unsigned long long>(counts.huge), counts.operators.size(), callers().size());
  if (only == nullptr) say_never_taken(counts);
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  ASSERT_EQ(softnpuReleaseDevice(0), ACL_SUCCESS);
}

}  // namespace
}  // namespace fuzz
