// What calls return on threads without a context, after resets, and for handles from before a reset: the table of
// softnpu/README.md, row by row.

#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "acl_fixture.h"

namespace {

// What a call may name, all made on device 0 before the reset.
struct Handles {
  void* memory = nullptr;
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtContext context = nullptr;  // of aclrtCreateContext
};

using Call = std::function<aclError(const Handles&)>;

const std::vector<std::pair<std::string, Call>>& calls() {
  static const std::vector<std::pair<std::string, Call>> table = {
      {"aclrtGetDevice",
       [](const Handles&) {
         int32_t device = 0;
         return aclrtGetDevice(&device);
       }},
      {"aclrtGetCurrentContext",
       [](const Handles&) {
         aclrtContext context = nullptr;
         return aclrtGetCurrentContext(&context);
       }},
      {"aclrtSetCurrentContext", [](const Handles& h) { return aclrtSetCurrentContext(h.context); }},
      {"aclrtDestroyContext", [](const Handles& h) { return aclrtDestroyContext(h.context); }},
      {"aclrtCreateContext",
       [](const Handles&) {
         aclrtContext context = nullptr;
         return aclrtCreateContext(&context, 0);
       }},
      {"aclrtSetDevice", [](const Handles&) { return aclrtSetDevice(0); }},
      {"aclrtResetDevice", [](const Handles&) { return aclrtResetDevice(0); }},
      {"aclrtSynchronizeDevice", [](const Handles&) { return aclrtSynchronizeDevice(); }},
      {"aclrtMalloc",
       [](const Handles&) {
         void* memory = nullptr;
         return aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST);
       }},
      {"aclrtMemset", [](const Handles& h) { return aclrtMemset(h.memory, 64, 0, 64); }},
      {"aclrtMemsetAsync", [](const Handles& h) { return aclrtMemsetAsync(h.memory, 64, 0, 64, h.stream); }},
      {"aclrtMemcpy",
       [](const Handles& h) {
         char host[64] = {};
         return aclrtMemcpy(host, 64, h.memory, 64, ACL_MEMCPY_DEVICE_TO_HOST);
       }},
      {"aclrtFree", [](const Handles& h) { return aclrtFree(h.memory); }},
      {"aclrtCreateStream",
       [](const Handles&) {
         aclrtStream stream = nullptr;
         return aclrtCreateStream(&stream);
       }},
      {"aclrtSynchronizeStream", [](const Handles& h) { return aclrtSynchronizeStream(h.stream); }},
      {"aclrtSynchronizeStream(NULL)", [](const Handles&) { return aclrtSynchronizeStream(nullptr); }},
      {"aclrtDestroyStream", [](const Handles& h) { return aclrtDestroyStream(h.stream); }},
      {"aclrtCreateEvent",
       [](const Handles&) {
         aclrtEvent event = nullptr;
         return aclrtCreateEvent(&event);
       }},
      {"aclrtRecordEvent", [](const Handles& h) { return aclrtRecordEvent(h.event, h.stream); }},
      {"aclrtStreamWaitEvent", [](const Handles& h) { return aclrtStreamWaitEvent(h.stream, h.event); }},
      {"aclrtSynchronizeEvent", [](const Handles& h) { return aclrtSynchronizeEvent(h.event); }},
      {"aclrtDestroyEvent", [](const Handles& h) { return aclrtDestroyEvent(h.event); }},
  };
  return table;
}

std::string name_of(aclError code) {
  static const std::map<aclError, std::string> names = {
      {ACL_SUCCESS, "success"},
      {ACL_ERROR_INVALID_PARAM, "ACL_ERROR_INVALID_PARAM"},
      {ACL_ERROR_RT_PARAM_INVALID, "ACL_ERROR_RT_PARAM_INVALID"},
      {ACL_ERROR_RT_CONTEXT_NULL, "ACL_ERROR_RT_CONTEXT_NULL"},
      {ACL_ERROR_RT_STREAM_CONTEXT, "ACL_ERROR_RT_STREAM_CONTEXT"},
  };
  const auto found = names.find(code);
  return found == names.end() ? std::to_string(code) : found->second;
}

aclError in_thread(const std::function<aclError()>& call) {
  aclError code = ACL_SUCCESS;
  std::thread([&] { code = call(); }).join();
  return code;
}

Handles make() {
  Handles result;
  aclrtContext own = nullptr;
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetCurrentContext(&own), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateContext(&result.context, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(own), ACL_SUCCESS);
  EXPECT_EQ(aclrtMalloc(&result.memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateStream(&result.stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateEvent(&result.event), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(result.event, result.stream), ACL_SUCCESS);
  return result;
}

// The columns: on a thread that set no device; where the device was reset, by this thread or another; where it was set
// again, with handles from before.
std::vector<std::string> row(const Call& call) {
  const auto with = [&](const std::function<aclError(const Handles&)>& situation) {
    aclError code = ACL_SUCCESS;
    std::thread([&] {
      const Handles result = make();
      code = situation(result);
      EXPECT_EQ(softnpuReleaseDevice(0), ACL_SUCCESS);
      (void)aclrtDestroyEvent(result.event);
    }).join();
    return name_of(code);
  };
  const std::string without = with([&](const Handles& h) { return in_thread([&] { return call(h); }); });
  const std::string here = with([&](const Handles& h) {
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    return call(h);
  });
  const std::string elsewhere = with([&](const Handles& h) {
    EXPECT_EQ(in_thread([] { return aclrtResetDevice(0); }), ACL_SUCCESS);
    return call(h);
  });
  const std::string again = with([&](const Handles& h) {
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    return call(h);
  });
  EXPECT_EQ(here, elsewhere);
  return {without, here, again};
}

std::string line(const std::string& name, const std::vector<std::string>& codes) {
  std::string text = "| `" + name + "` |";
  for (const std::string& code : codes) text += " " + code + " |";
  return text + "\n";
}

TEST(Reset, CallsReturnWhatTheTableSays) {
  (void)aclInit(nullptr);
  std::string rows;
  for (const auto& [name, call] : calls()) rows += line(name, row(call));
  std::ifstream file(SOFTNPU_ROOT "/softnpu/README.md");
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_NE(page.str().find(rows), std::string::npos) << "the rows are\n" << rows;
}

TEST(Reset, OrdersOfSetAndReset) {
  (void)aclInit(nullptr);
  const auto malloc_code = [] {
    void* memory = nullptr;
    return aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  };
  std::thread([&] {
    // As many resets as sets release the device; one more has nothing to release.
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(malloc_code(), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(malloc_code(), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(malloc_code(), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(malloc_code(), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  }).join();
  std::thread([&] {
    // A reset waits for the work of its device, in whatever order streams and memory were made.
    const Handles result = make();
    EXPECT_EQ(aclrtMemsetAsync(result.memory, 64, 7, 64, result.stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(result.stream), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtDestroyEvent(result.event), ACL_SUCCESS);
  }).join();
}

}  // namespace
