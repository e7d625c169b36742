// Kernels that crash, or never end: the stream has an error, and the process and other streams go on.

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "ascendc/kernel_run.h"
#include "kernel_operator.h"

namespace {

using namespace AscendC;

struct None {};

class KernelFaults : public KernelTest {
 protected:
  // What the wait for one block of a kernel reports.
  template <typename Body>
  static std::string failure_of(Body body) {
    EXPECT_EQ(run("bad", 1, None{}, body), ACL_ERROR_RT_AICORE_EXCEPTION);
    return recent_error();
  }
  static void expect_all(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  void TearDown() override {
    // The process can still run kernels.
    int32_t* one = on_device(std::vector<int32_t>{0});
    struct One {
      int32_t* one;
    };
    EXPECT_EQ(run("good", 1, One{kernel_address(one)}, [](const One& a) { *a.one = 1; }), ACL_SUCCESS);
    EXPECT_EQ(on_host(one, 1)[0], 1);
    KernelTest::TearDown();
  }
};

// Recursion that the compiler cannot turn into a loop.
[[gnu::noinline]] int descend(volatile int* depth) {  // NOLINT(misc-no-recursion)
  volatile char frame[512];
  frame[0] = static_cast<char>(*depth);
  if (*depth < 0) return 0;
  *depth = *depth + 1;
  return descend(depth) + frame[0];
}

TEST_F(KernelFaults, AnAccessWithoutMemoryNamesBlockAndLine) {
  const std::string text = failure_of([](const None&) {
    GlobalTensor<float> global;
    global.SetGlobalBuffer(reinterpret_cast<float*>(64), 16);
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 64);
    DataCopy(buffer.Get<float>(), global, 16);
  });
  expect_all(text, {"kernel bad, block 0", "faults_test.cpp:", "SIGSEGV: no memory for this access at 0x",
                    "in or behind DataCopy"});
}

TEST_F(KernelFaults, AnAddressThatCannotBeIsNotCalledZero) {
  const std::string text = failure_of([](const None&) {
    GlobalTensor<float> global;
    volatile uintptr_t nowhere = uintptr_t{1} << 60;  // which the compiler does not see through
    global.SetGlobalBuffer(reinterpret_cast<float*>(nowhere), 16);
    TPipe pipe;
    TBuf<> buffer;
    pipe.InitBuffer(buffer, 64);
    DataCopy(buffer.Get<float>(), global, 16);
  });
  expect_all(text, {"faults_test.cpp:", "SIGSEGV: no memory for this access at an address of more than 47 bits"});
}

TEST_F(KernelFaults, AScalarAccessWithoutMemory) {
  expect_all(failure_of([](const None&) {
               GlobalTensor<int32_t> global;
               volatile uintptr_t nowhere = 16;  // which the compiler does not see through
               global.SetGlobalBuffer(reinterpret_cast<int32_t*>(nowhere));
               global.SetValue(2, 1);
             }),
             {"faults_test.cpp:", "at 0x18 in or behind SetValue"});
}

TEST_F(KernelFaults, ACopyBehindTheUnifiedBuffer) {
  expect_all(failure_of([](const None&) {
               LocalTensor<uint8_t> all(softnpu::kernel::current_block()->local[0], 1 << 20, TPosition::VECCALC,
                                        nullptr);
               DataCopy(all[96 << 10], all, (96 << 10) + 32);
             }),
             {"SIGSEGV", "in or behind DataCopy"});
}

// A fault also where the undefined behaviour sanitizer watches.
[[gnu::noinline, gnu::no_sanitize("undefined")]] int divide(int by) { return 1000 / by; }

TEST_F(KernelFaults, ADivisionByZero) {
  expect_all(failure_of([](const None&) {
               volatile int zero = 0;
               volatile int quotient = divide(zero);
               (void)quotient;
             }),
             {"integer division by zero before the first instruction"});
}

TEST_F(KernelFaults, AStackOverflow) {
  expect_all(failure_of([](const None&) {
               volatile int depth = 0;
               depth = descend(&depth);
             }),
             {"stack overflow"});
}

TEST_F(KernelFaults, Abort) {
  expect_all(failure_of([](const None&) { std::abort(); }), {"abort() was called"});
}

TEST_F(KernelFaults, AnException) {
  expect_all(failure_of([](const None&) { throw std::runtime_error("a reason"); }),
             {"kernel bad, block 0", "a reason"});
}

TEST_F(KernelFaults, AHandlerOfTheProgramGetsTheFaultsOutsideOfKernels) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        struct sigaction action {};
        action.sa_handler = [](int) { _exit(42); };
        sigaction(SIGSEGV, &action, nullptr);
        if (run("good", 1, None{}, [](const None&) {}) == ACL_SUCCESS) raise(SIGSEGV);
      },
      ::testing::ExitedWithCode(42), "");
}

TEST_F(KernelFaults, WithoutAHandlerAFaultOutsideOfKernelsEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        signal(SIGFPE, SIG_DFL);
        if (run("good", 1, None{}, [](const None&) {}) == ACL_SUCCESS) raise(SIGFPE);
      },
      ::testing::KilledBySignal(SIGFPE), "");
}

}  // namespace
