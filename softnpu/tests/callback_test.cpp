#include <pthread.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "acl_fixture.h"
#include "blocking_task.h"

namespace {

class CallbackTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  }

  aclrtStream stream_ = nullptr;
};

struct Record {
  std::vector<int> order;
  std::thread::id thread;
};

TEST_F(CallbackTest, HostFunctionRunsInStreamOrderOnAnotherThread) {
  Record record;
  auto before = [&] { record.order.push_back(1); };
  auto after = [&] { record.order.push_back(3); };
  ASSERT_EQ(launch(stream_, before), ACL_SUCCESS);
  auto host = [](void* state) {
    auto& own = *static_cast<Record*>(state);
    own.order.push_back(2);
    own.thread = std::this_thread::get_id();
  };
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, host, &record), ACL_SUCCESS);
  ASSERT_EQ(launch(stream_, after), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(record.order, (std::vector<int>{1, 2, 3}));
  EXPECT_NE(record.thread, std::this_thread::get_id());
}

// A function that waits for another stream's work must not block the device.
TEST_F(CallbackTest, AHostFunctionOccupiesNoDevice) {
  std::promise<void> done;
  auto wait = [](void* state) { static_cast<std::promise<void>*>(state)->get_future().wait(); };
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, wait, &done), ACL_SUCCESS);
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  auto work = [&] { done.set_value(); };
  ASSERT_EQ(launch(other, work), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(CallbackTest, ExceptionOfAHostFunctionIsTheStreamsError) {
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_, [](void*) { throw std::runtime_error("no"); }, nullptr),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_NE(recent_error().find("the function threw"), std::string::npos);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(CallbackTest, ASubscribedThreadServesTheStream) {
  Record record;
  std::atomic<bool> stop{false};
  std::promise<uint64_t> started;
  std::thread server([&] {
    started.set_value(static_cast<uint64_t>(pthread_self()));
    while (!stop) (void)aclrtProcessReport(10);
  });
  const uint64_t id = started.get_future().get();
  ASSERT_EQ(aclrtSubscribeReport(id, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSubscribeReport(id, stream_), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  auto called = [](void* state) {
    auto& own = *static_cast<Record*>(state);
    own.order.push_back(1);
    own.thread = std::this_thread::get_id();
  };
  auto after = [&] { record.order.push_back(2); };
  ASSERT_EQ(aclrtLaunchCallback(called, &record, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  ASSERT_EQ(launch(stream_, after), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(record.order, (std::vector<int>{1, 2}));
  EXPECT_EQ(record.thread, server.get_id());
  stop = true;
  server.join();
  EXPECT_EQ(aclrtUnSubscribeReport(id, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnSubscribeReport(id, stream_), ACL_ERROR_RT_THREAD_SUBSCRIBE);
}

TEST_F(CallbackTest, NonBlockingCallbackDoesNotStopTheStream) {
  const auto id = static_cast<uint64_t>(pthread_self());
  ASSERT_EQ(aclrtSubscribeReport(id, stream_), ACL_SUCCESS);
  int calls = 0;
  auto count = [](void* state) { ++*static_cast<int*>(state); };
  ASSERT_EQ(aclrtLaunchCallback(count, &calls, ACL_CALLBACK_NO_BLOCK, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_REPORT_TIMEOUT);
  EXPECT_EQ(aclrtUnSubscribeReport(id, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
}

TEST_F(CallbackTest, AnUnservedCallbackIsAnErrorAndBlocksNothing) {
  const auto id = static_cast<uint64_t>(pthread_self());
  EXPECT_EQ(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, stream_), ACL_ERROR_RT_STREAM_NO_CB_REG);
  ASSERT_EQ(aclrtSubscribeReport(id, stream_), ACL_SUCCESS);
  int calls = 0;
  auto count = [](void* state) { ++*static_cast<int*>(state); };
  ASSERT_EQ(aclrtLaunchCallback(count, &calls, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtUnSubscribeReport(id, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_NO_CB_REG);
  EXPECT_EQ(calls, 0);
}

TEST_F(CallbackTest, ForcedDestructionEndsABlockedStream) {
  const auto id = static_cast<uint64_t>(pthread_self());
  ASSERT_EQ(aclrtSubscribeReport(id, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStreamForce(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(0), ACL_ERROR_RT_THREAD_SUBSCRIBE);
}

TEST_F(CallbackTest, BadArgumentsAreErrors) {
  EXPECT_EQ(aclrtLaunchHostFunc(stream_, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtLaunchCallback(nullptr, nullptr, ACL_CALLBACK_BLOCK, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtLaunchCallback([](void*) {}, nullptr, static_cast<aclrtCallbackBlockType>(7), stream_),
            ACL_ERROR_INVALID_PARAM);
  int no_stream = 0;
  EXPECT_EQ(aclrtLaunchHostFunc(
                &no_stream, [](void*) {}, nullptr),
            ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtSubscribeReport(1, &no_stream), ACL_ERROR_RT_STREAM_CONTEXT);
}

}  // namespace
