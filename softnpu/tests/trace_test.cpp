// The records of launches, runs and calls.

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_neg.h"
#include "blocking_task.h"
#include "softnpu/trace.h"

namespace {

constexpr uint32_t kTimeoutMs = 10000;

class TraceTest : public AclTest {
 protected:
  void start(uint32_t wanted) { ASSERT_EQ(softnpuTraceStart(wanted, &trace_), ACL_SUCCESS); }

  std::vector<softnpuTraceRecord> stop(uint64_t* missing = nullptr) {
    std::vector<softnpuTraceRecord> records;
    const auto keep = [](void* context, const softnpuTraceRecord* record) {
      static_cast<std::vector<softnpuTraceRecord>*>(context)->push_back(*record);
    };
    EXPECT_EQ(softnpuTraceStop(trace_, kTimeoutMs, keep, &records, missing), ACL_SUCCESS);
    return records;
  }

  static std::vector<softnpuTraceRecord> of_kind(const std::vector<softnpuTraceRecord>& records, uint8_t kind) {
    std::vector<softnpuTraceRecord> found;
    std::ranges::copy_if(records, std::back_inserter(found), [&](const auto& record) { return record.kind == kind; });
    return found;
  }

  static aclrtStream make_stream() {
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    return stream;
  }

  softnpuTrace* trace_ = nullptr;
};

// Launches `count` tasks on a stream of its own, small ones and large ones in turn.
void launch_many(int count) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  int runs = 0;
  auto run = [&runs] { ++runs; };
  for (int i = 0; i < count; ++i) ASSERT_EQ(launch(stream, run, i % 2 == 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(runs, count);
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(TraceTest, EveryLaunchOfEveryThreadIsRecordedOnce) {
  constexpr int kThreads = 4;
  constexpr int kTasks = 2000;
  start(SOFTNPU_TRACE_TASKS);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(launch_many, kTasks);
  for (std::thread& thread : threads) thread.join();
  uint64_t missing = 1;
  const auto records = stop(&missing);
  EXPECT_EQ(missing, 0U);
  std::map<uint64_t, int> launched;
  std::map<uint64_t, int> ran;
  for (const auto& record : of_kind(records, SOFTNPU_TRACE_LAUNCH)) ++launched[record.id];
  for (const auto& record : of_kind(records, SOFTNPU_TRACE_RUN)) ++ran[record.id];
  EXPECT_EQ(launched.size(), size_t{kThreads * kTasks});
  EXPECT_EQ(launched, ran);
  EXPECT_TRUE(std::ranges::all_of(launched, [](const auto& entry) { return entry.second == 1; }));
}

TEST_F(TraceTest, RunsOfOneStreamDoNotOverlapAndFollowTheirLaunches) {
  start(SOFTNPU_TRACE_TASKS);
  launch_many(500);
  const auto records = stop();
  std::map<uint64_t, softnpuTraceRecord> launches;
  for (const auto& record : of_kind(records, SOFTNPU_TRACE_LAUNCH)) launches[record.id] = record;
  auto runs = of_kind(records, SOFTNPU_TRACE_RUN);
  ASSERT_EQ(runs.size(), 500U);
  std::ranges::sort(runs, {}, &softnpuTraceRecord::id);
  for (size_t i = 0; i < runs.size(); ++i) {
    EXPECT_LE(runs[i].begin, runs[i].end);
    EXPECT_LE(launches[runs[i].id].begin, runs[i].begin);
    EXPECT_EQ(std::string(launches[runs[i].id].name), "counted");
    if (i > 0) {
      EXPECT_LE(runs[i - 1].end, runs[i].begin) << i;
      EXPECT_EQ(launches[runs[i].id].other, launches[runs[i - 1].id].other + 1);
    }
  }
}

TEST_F(TraceTest, TimesAreThoseOfAClockOutside) {
  aclrtStream stream = make_stream();
  constexpr auto kTime = std::chrono::milliseconds(5);
  auto wait = [&] { std::this_thread::sleep_for(kTime); };
  start(SOFTNPU_TRACE_TASKS);
  const int64_t before = softnpuTraceNow();
  for (int i = 0; i < 4; ++i) ASSERT_EQ(launch(stream, wait), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  const int64_t after = softnpuTraceNow();
  int64_t sum = 0;
  for (const auto& run : of_kind(stop(), SOFTNPU_TRACE_RUN)) {
    EXPECT_GE(run.begin, before);
    EXPECT_LE(run.end, after);
    EXPECT_GE(run.end - run.begin, std::chrono::nanoseconds(kTime).count());
    sum += run.end - run.begin;
  }
  EXPECT_GE(sum, 4 * std::chrono::nanoseconds(kTime).count());
  EXPECT_LE(sum, after - before);
}

TEST_F(TraceTest, FusedTasksNameTheGroupsFirst) {
  constexpr int64_t kCount = 1 << 15;
  aclrtStream stream = make_stream();
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, kCount * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  const int64_t dims[] = {kCount};
  const int64_t strides[] = {1};
  aclTensor* tensor = aclCreateTensor(dims, 1, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 1, memory);
  ASSERT_NE(tensor, nullptr);
  uint64_t counted_before = 0;
  ASSERT_EQ(softnpuGetFusedTasks(0, &counted_before), ACL_SUCCESS);
  start(SOFTNPU_TRACE_TASKS | SOFTNPU_TRACE_DETAILS);
  BlockingTask block;
  ASSERT_EQ(block.launch(stream), ACL_SUCCESS);
  block.wait_until_it_runs();
  constexpr uint64_t kTasks = 3;
  for (uint64_t i = 0; i < kTasks; ++i) {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnNegGetWorkspaceSize(tensor, tensor, &bytes, &executor), 0);
    ASSERT_EQ(aclnnNeg(nullptr, bytes, executor, stream), 0);
  }
  block.release();
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  uint64_t missing = 1;
  const auto records = stop(&missing);
  EXPECT_EQ(missing, 0U);
  const auto launches = of_kind(records, SOFTNPU_TRACE_LAUNCH);
  ASSERT_EQ(launches.size(), kTasks + 1);
  for (size_t i = 1; i < launches.size(); ++i) EXPECT_EQ(launches[i].bytes, kCount * sizeof(float));
  const auto details = of_kind(records, SOFTNPU_TRACE_DETAIL);
  ASSERT_EQ(details.size(), kTasks);
  EXPECT_TRUE(std::string(details[0].detail).starts_with("32768|FLOAT|ND|32768|FLOAT|ND|")) << details[0].detail;
  const auto members = of_kind(records, SOFTNPU_TRACE_MEMBER);
  uint64_t fused = 0;
  for (const auto& run : of_kind(records, SOFTNPU_TRACE_RUN)) fused += run.other - 1;
  EXPECT_EQ(members.size(), fused);
  uint64_t counted = 0;
  ASSERT_EQ(softnpuGetFusedTasks(0, &counted), ACL_SUCCESS);
  EXPECT_EQ(fused, counted - counted_before);
  for (const auto& member : members) EXPECT_EQ(member.other, launches[1].id);
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

TEST_F(TraceTest, ADroppedTaskIsRecordedAndNotWaitedFor) {
  aclrtStream stream = make_stream();
  start(SOFTNPU_TRACE_TASKS);
  BlockingTask block;
  ASSERT_EQ(block.launch(stream), ACL_SUCCESS);
  block.wait_until_it_runs();
  auto nothing = [] {};
  ASSERT_EQ(launch(stream, nothing), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamAbort(stream), ACL_SUCCESS);
  block.release();
  (void)aclrtSynchronizeStream(stream);
  uint64_t missing = 1;
  const auto records = stop(&missing);
  EXPECT_EQ(missing, 0U);
  EXPECT_EQ(of_kind(records, SOFTNPU_TRACE_DROPPED).size(), 1U);
}

TEST_F(TraceTest, WithoutARecordingNothingIsStored) {
  launch_many(10);
  start(SOFTNPU_TRACE_TASKS | SOFTNPU_TRACE_CALLS);
  EXPECT_TRUE(stop().empty());
  EXPECT_EQ(*softnpuTraceWanted(), 0U);
  EXPECT_EQ(softnpuTraceRecentTask(), 0U);
}

TEST_F(TraceTest, TwoRecordingsGetWhatTheyAskedFor) {
  start(SOFTNPU_TRACE_TASKS);
  softnpuTrace* calls = nullptr;
  ASSERT_EQ(softnpuTraceStart(SOFTNPU_TRACE_CALLS, &calls), ACL_SUCCESS);
  launch_many(3);
  std::swap(trace_, calls);
  const auto of_calls = stop();
  EXPECT_EQ(of_kind(of_calls, SOFTNPU_TRACE_CALL).size(), of_calls.size());
  EXPECT_TRUE(std::ranges::any_of(of_calls,
                                  [](const auto& call) { return std::string(call.name) == "aclrtSynchronizeStream"; }));
  std::swap(trace_, calls);
  const auto of_tasks = stop();
  EXPECT_EQ(of_kind(of_tasks, SOFTNPU_TRACE_LAUNCH).size(), 3U);
  EXPECT_TRUE(of_kind(of_tasks, SOFTNPU_TRACE_CALL).empty());
}

TEST_F(TraceTest, WrongUseIsAnError) {
  softnpuTrace* trace = nullptr;
  EXPECT_EQ(softnpuTraceStart(0, &trace), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(softnpuTraceStart(1 << 20, &trace), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(softnpuTraceStart(SOFTNPU_TRACE_TASKS, nullptr), ACL_ERROR_INVALID_PARAM);
  start(SOFTNPU_TRACE_TASKS);
  (void)stop();
  EXPECT_EQ(softnpuTraceStop(trace_, 0, nullptr, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
