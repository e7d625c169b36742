// Bad input gives one code and one message, from one thread and from many at once, and does not change the device.

#include <array>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "acl_fixture.h"
#include "make_task.h"
#include "softnpu/softnpu.h"

namespace {

constexpr int kThreads = 8;
constexpr size_t kBytes = 4096;

// A call that must be refused.
struct Refusal {
  const char* name;
  std::function<aclError()> call;
  aclError code;
  const char* words;  // expected in the message
};

class BadInputTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_EQ(aclrtMalloc(&block_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    upload(block_, 12345);
  }
  void TearDown() override {
    EXPECT_EQ(download<int>(block_), 12345);  // data are unchanged
    upload(block_, 6789);
    EXPECT_EQ(download<int>(block_), 6789);
    EXPECT_EQ(aclrtFree(block_), ACL_SUCCESS);
    AclTest::TearDown();
  }

  static void expect_refused(const Refusal& refusal) {
    EXPECT_EQ(refusal.call(), refusal.code) << refusal.name;
    const std::string message = recent_error();
    EXPECT_NE(message.find(refusal.words), std::string::npos) << refusal.name << ": " << message;
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr) << refusal.name;
  }

  template <typename Body>
  static void in_threads(Body body) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&body, t] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        body(t);
      });
    }
    for (auto& thread : threads) thread.join();
  }

  static void expect_all_refused(const std::vector<Refusal>& refusals) {
    for (const Refusal& refusal : refusals) expect_refused(refusal);
    in_threads([&](int t) {
      for (size_t i = 0; i < 20 * refusals.size(); ++i) {
        expect_refused(refusals[(i * 7 + static_cast<size_t>(t)) % refusals.size()]);
      }
    });
  }

  void* block_ = nullptr;
};

TEST_F(BadInputTest, WrongDeviceIndex) {
  static int64_t value = 0;
  static int32_t can = 0;
  static aclrtContext context = nullptr;
  expect_all_refused({
      {"set 2", [] { return aclrtSetDevice(2); }, ACL_ERROR_RT_INVALID_DEVICEID, "device 2 does not exist"},
      {"set -1", [] { return aclrtSetDevice(-1); }, ACL_ERROR_RT_INVALID_DEVICEID, "device -1 does not exist"},
      {"reset 99", [] { return softnpuReleaseDevice(99); }, ACL_ERROR_RT_INVALID_DEVICEID, "device 99 does not exist"},
      {"context", [] { return aclrtCreateContext(&context, 16); }, ACL_ERROR_RT_INVALID_DEVICEID, "device 16"},
      {"info", [] { return aclrtGetDeviceInfo(77, ACL_DEV_ATTR_AICORE_CORE_NUM, &value); },
       ACL_ERROR_RT_INVALID_DEVICEID, "device 77 does not exist"},
      {"peer", [] { return aclrtDeviceCanAccessPeer(&can, 0, 5); }, ACL_ERROR_RT_INVALID_DEVICEID, "device 5"},
  });
}

TEST_F(BadInputTest, ForeignPointer) {
  static std::array<char, 64> host{};
  void* const inside = static_cast<char*>(block_) + 512;
  expect_all_refused({
      {"free host", [] { return aclrtFree(host.data()); }, ACL_ERROR_RT_PARAM_INVALID, "is not a device address"},
      {"free null", [] { return aclrtFree(nullptr); }, ACL_ERROR_RT_PARAM_INVALID, "is not a device address"},
      {"free inside", [=] { return aclrtFree(inside); }, ACL_ERROR_RT_PARAM_INVALID, "is not the start of a live"},
      {"free pinned", [=] { return aclrtFreeHost(inside); }, ACL_ERROR_RT_PARAM_INVALID, "was not allocated by"},
      {"unmap", [=] { return aclrtUnmapMem(inside); }, ACL_ERROR_RT_PARAM_INVALID, "is not the start of a mapping"},
      {"release", [=] { return aclrtReleaseMemAddress(inside); }, ACL_ERROR_RT_PARAM_INVALID,
       "is not the start of a reservation"},
      {"kernel address",
       [=] {
         void* kernel = nullptr;
         return softnpuKernelAddress(host.data(), 1, &kernel);
       },
       ACL_ERROR_RT_PARAM_INVALID, "is not a device's"},
  });
}

TEST_F(BadInputTest, DoubleFree) {
  for (int round = 0; round < 50; ++round) {
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    std::atomic<int> freed{0};
    in_threads([&](int) {
      if (aclrtFree(block) == ACL_SUCCESS) {
        ++freed;
      } else {
        EXPECT_NE(recent_error().find("is not the start of a live device allocation"), std::string::npos);
      }
    });
    EXPECT_EQ(freed, 1);
  }
}

TEST_F(BadInputTest, CopyPastAnAllocation) {
  static std::array<char, 2 * kBytes> host{};
  void* const block = block_;
  void* const last = static_cast<char*>(block_) + kBytes - 1;
  auto copy = [](void* dst, const void* src, size_t count, aclrtMemcpyKind kind) {
    return aclrtMemcpy(dst, count, src, count, kind);
  };
  constexpr aclError kCode = ACL_ERROR_RT_PARAM_INVALID;
  expect_all_refused({
      {"in", [=] { return copy(block, host.data(), kBytes + 1, ACL_MEMCPY_HOST_TO_DEVICE); }, kCode,
       "the destination runs past its allocation: 4097 bytes at byte 0 of 4096"},
      {"out", [=] { return copy(host.data(), last, 2, ACL_MEMCPY_DEVICE_TO_HOST); }, kCode,
       "the source runs past its allocation: 2 bytes at byte 4095 of 4096"},
      {"huge", [=] { return copy(block, block, ~size_t{0}, ACL_MEMCPY_DEVICE_TO_DEVICE); }, kCode, "runs past"},
      {"fill", [=] { return aclrtMemset(block, kBytes + 8, 0, kBytes + 8); }, kCode, "runs past its allocation"},
      {"async", [=] { return aclrtMemcpyAsync(last, 2, block, 2, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr); }, kCode,
       "the destination runs past its allocation"},
      {"fill async", [=] { return aclrtMemsetAsync(last, 2, 0, 2, nullptr); }, kCode, "runs past its allocation"},
      {"into too little", [=] { return aclrtMemcpy(block, 1, host.data(), 2, ACL_MEMCPY_DEFAULT); },
       ACL_ERROR_INVALID_PARAM, "into a destination of 1 bytes"},
  });
}

TEST_F(BadInputTest, NullHandle) {
  void* const block = block_;
  static aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  expect_all_refused({
      {"destroy stream", [] { return aclrtDestroyStream(nullptr); }, ACL_ERROR_RT_STREAM_CONTEXT, "default stream"},
      {"destroy event", [] { return aclrtDestroyEvent(nullptr); }, ACL_ERROR_RT_PARAM_INVALID, "does not exist"},
      {"record", [] { return aclrtRecordEvent(nullptr, nullptr); }, ACL_ERROR_RT_PARAM_INVALID, "does not exist"},
      {"wait", [] { return aclrtStreamWaitEvent(nullptr, nullptr); }, ACL_ERROR_RT_PARAM_INVALID, "does not exist"},
      {"set context", [] { return aclrtSetCurrentContext(nullptr); }, ACL_ERROR_RT_CONTEXT_NULL, "does not exist"},
      {"destroy context", [] { return aclrtDestroyContext(nullptr); }, ACL_ERROR_RT_CONTEXT_NULL, "does not exist"},
      {"physical", [] { return aclrtFreePhysical(nullptr); }, ACL_ERROR_RT_PARAM_INVALID, "does not exist"},
      {"close key", [] { return aclrtIpcMemClose(nullptr); }, ACL_ERROR_INVALID_PARAM, "key is null"},
      {"from null", [=] { return aclrtMemcpy(block, 1, nullptr, 1, ACL_MEMCPY_HOST_TO_DEVICE); },
       ACL_ERROR_INVALID_PARAM, "with a null address"},
      {"task", [] { return softnpuLaunch(nullptr, nullptr); }, ACL_ERROR_INVALID_PARAM, "task is null"},
      {"status", [] { return aclrtQueryEventStatus(event, nullptr); }, ACL_ERROR_INVALID_PARAM, "status is null"},
  });
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

TEST_F(BadInputTest, HandleAfterItsDestruction) {
  static aclrtStream stream = nullptr;
  static aclrtEvent event = nullptr;
  static aclrtContext context = nullptr;
  static aclrtEvent live = nullptr;
  void* const block = block_;
  ASSERT_EQ(aclrtCreateEvent(&live), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  constexpr aclError kStream = ACL_ERROR_RT_STREAM_CONTEXT;
  constexpr aclError kEvent = ACL_ERROR_RT_PARAM_INVALID;
  constexpr aclError kContext = ACL_ERROR_RT_CONTEXT_NULL;
  expect_all_refused({
      {"destroy stream", [] { return aclrtDestroyStream(stream); }, kStream, "does not exist"},
      {"force", [] { return aclrtDestroyStreamForce(stream); }, kStream, "does not exist"},
      {"synchronize", [] { return aclrtSynchronizeStream(stream); }, kStream, "does not exist"},
      {"record on", [] { return aclrtRecordEvent(live, stream); }, kStream, "does not exist"},
      {"fill on", [=] { return aclrtMemsetAsync(block, 1, 0, 1, stream); }, kStream, "does not exist"},
      {"record", [] { return aclrtRecordEvent(event, nullptr); }, kEvent, "does not exist"},
      {"wait", [] { return aclrtStreamWaitEvent(nullptr, event); }, kEvent, "does not exist"},
      {"wait here", [] { return aclrtSynchronizeEvent(event); }, kEvent, "does not exist"},
      {"destroy event", [] { return aclrtDestroyEvent(event); }, kEvent, "does not exist"},
      {"context", [] { return aclrtSetCurrentContext(context); }, kContext, "does not exist"},
      {"destroy context", [] { return aclrtDestroyContext(context); }, kContext, "does not exist"},
  });
  EXPECT_EQ(aclrtDestroyEvent(live), ACL_SUCCESS);
}

// An event is recorded by streams of its own context; streams of others may wait for it, to order devices.
TEST_F(BadInputTest, EventOfAnotherContext) {
  static aclrtContext other = nullptr;
  static aclrtContext own = nullptr;
  static aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&own), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  for (int32_t device : {0, 1}) {
    ASSERT_EQ(aclrtCreateContext(&other, device), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetCurrentContext(own), ACL_SUCCESS);
    const auto elsewhere = [](aclError (*call)()) {
      if (aclrtSetCurrentContext(other) != ACL_SUCCESS) return ACL_ERROR_INTERNAL_ERROR;
      const aclError code = call();
      if (code == ACL_SUCCESS && aclrtSetCurrentContext(own) != ACL_SUCCESS) return ACL_ERROR_INTERNAL_ERROR;
      return code;
    };
    expect_all_refused({
        {"record", [&] { return elsewhere([] { return aclrtRecordEvent(event, nullptr); }); },
         ACL_ERROR_RT_STREAM_CONTEXT, "belongs to another context"},
        {"reset", [&] { return elsewhere([] { return aclrtResetEvent(event, nullptr); }); },
         ACL_ERROR_RT_STREAM_CONTEXT, "belongs to another context"},
    });
    ASSERT_EQ(aclrtSetCurrentContext(own), ACL_SUCCESS);
    in_threads([&](int) {
      for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
        ASSERT_EQ(elsewhere([] { return aclrtStreamWaitEvent(nullptr, event); }), ACL_SUCCESS);
      }
      ASSERT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
    });
    ASSERT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);  // it outlives contexts that waited for it
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(softnpuReleaseDevice(1), ACL_SUCCESS);
}

TEST_F(BadInputTest, StreamDestroyedUnderWork) {
  static std::atomic<int> released{0};
  for (int round = 0; round < 50; ++round) {
    released = 0;
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    std::atomic<int> launched{0};
    std::atomic<int> destroyed{0};
    in_threads([&](int t) {
      for (int i = 0; i < 50; ++i) {
        softnpuTask task = make_task(
            "task", i % 2, [](void*, char*, size_t) -> aclError { return ACL_SUCCESS; }, nullptr,
            [](void*) { ++released; });
        ++launched;
        const aclError code = softnpuLaunch(stream, &task);
        if (code == ACL_SUCCESS) continue;
        EXPECT_EQ(code, ACL_ERROR_RT_STREAM_CONTEXT);
        EXPECT_NE(recent_error().find("does not exist"), std::string::npos);
      }
      if (t > 1) return;
      const aclError code = round % 2 == 0 ? aclrtDestroyStream(stream) : aclrtDestroyStreamForce(stream);
      if (code == ACL_SUCCESS) {
        ++destroyed;
      } else {
        EXPECT_EQ(code, ACL_ERROR_RT_STREAM_CONTEXT);
        EXPECT_NE(recent_error().find("does not exist"), std::string::npos);
      }
    });
    EXPECT_EQ(destroyed, 1);
    // Work launched after the destruction may still be queued: it is done after a task on another stream.
    while (released < launched) ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    EXPECT_EQ(released, launched);
  }
}

TEST_F(BadInputTest, MemoryFreedUnderWork) {
  struct Gate {
    std::atomic<bool> open{false};
  } gate;
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  softnpuTask holds = make_task(
      "holds", 0,
      [](void* state, char*, size_t) -> aclError {
        static_cast<Gate*>(state)->open.wait(false);
        return ACL_SUCCESS;
      },
      &gate);
  void* device = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&pinned, kBytes), ACL_SUCCESS);
  ASSERT_EQ(softnpuLaunch(stream, &holds), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(device, kBytes, 1, kBytes, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(device), ACL_SUCCESS);
  gate.open = true;
  gate.open.notify_all();
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_NE(recent_error().find("aclrtMemsetAsync on stream"), std::string::npos);

  gate.open = false;
  ASSERT_EQ(softnpuLaunch(stream, &holds), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(block_, kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  gate.open = true;
  gate.open.notify_all();
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_NE(recent_error().find("pinned host memory was freed"), std::string::npos);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

// Existing objects can be released, and can be used again after the next aclInit; new ones cannot be created.
TEST_F(BadInputTest, BeforeInitAndAfterFinalize) {
  static void* block = nullptr;
  static aclrtStream stream = nullptr;
  static aclrtEvent event = nullptr;
  static aclrtContext context = nullptr;
  static softnpuTask task = make_task("task", 1, [](void*, char*, size_t) -> aclError { return ACL_SUCCESS; });
  ASSERT_EQ(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  static constexpr aclError kCode = ACL_ERROR_UNINITIALIZE;
  static constexpr const char* kSays = "aclFinalize was called";
  const std::vector<Refusal> refusals = {
      {"finalize", [] { return aclFinalize(); }, kCode, "aclFinalize without aclInit"},
      {"set device", [] { return aclrtSetDevice(0); }, kCode, kSays},
      {"context", [] { return aclrtCreateContext(&context, 0); }, kCode, kSays},
      {"stream", [] { return aclrtSynchronizeStream(stream); }, kCode, kSays},
      {"launch", [] { return softnpuLaunch(stream, &task); }, kCode, kSays},
      {"memset", [] { return aclrtMemsetAsync(block, kBytes, 1, kBytes, stream); }, kCode, kSays},
      {"record", [] { return aclrtRecordEvent(event, stream); }, kCode, kSays},
      {"synchronize", [] { return aclrtSynchronizeEvent(event); }, kCode, kSays},
  };
  const std::vector<Refusal> of_a_context = {
      {"malloc", [] { return aclrtMalloc(&context, kBytes, ACL_MEM_MALLOC_HUGE_FIRST); }, kCode, kSays},
      {"create stream", [] { return aclrtCreateStream(&context); }, kCode, kSays},
      {"create event", [] { return aclrtCreateEvent(&context); }, kCode, kSays},
  };
  for (const Refusal& refusal : of_a_context) expect_refused(refusal);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&refusals] {
      for (int i = 0; i < 20; ++i) {
        for (const Refusal& refusal : refusals) expect_refused(refusal);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  std::atomic<int> initialised{0};
  threads.clear();
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&initialised] {
      const aclError code = aclInit(nullptr);
      if (code == ACL_SUCCESS) {
        ++initialised;
      } else {
        EXPECT_EQ(code, ACL_ERROR_REPEAT_INITIALIZE);
        EXPECT_NE(recent_error().find("aclInit was called before"), std::string::npos);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(initialised, 1);
}

}  // namespace
