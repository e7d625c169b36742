// What a captured graph does at its replays.

#include <atomic>
#include <fstream>
#include <sstream>

#include "capture_fixture.h"
#include "softnpu/memory_events.h"

namespace {

using ReplayTest = CaptureTest;

TEST_F(ReplayTest, RunsTheTasksAtEachReplayAndOnlyThen) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  EXPECT_EQ(status(stream_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  ASSERT_EQ(note(2), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  EXPECT_EQ(status(stream_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  EXPECT_TRUE(ran_.empty());
  ASSERT_EQ(replay(), ACL_SUCCESS);
  ASSERT_EQ(replay(), ACL_SUCCESS);
  EXPECT_EQ(ran_, (std::vector{1, 2, 1, 2}));
  EXPECT_EQ(released_, 0);
  ASSERT_EQ(aclmdlRIDestroy(model_), ACL_SUCCESS);
  EXPECT_EQ(released_, 2);
}

TEST_F(ReplayTest, AnEmptyGraphReplays) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  EXPECT_EQ(replay(), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model_), ACL_SUCCESS);
}

TEST_F(ReplayTest, TheModelIsTheOneThatTheCaptureNamed) {
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI named = nullptr;
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureGetInfo(stream_, &status, &named), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  EXPECT_EQ(named, model_);
  uint32_t id = 0;
  EXPECT_EQ(aclmdlRIGetId(model_, &id), ACL_SUCCESS);
  EXPECT_NE(id, 0U);
}

TEST_F(ReplayTest, RunsOnAnotherStreamInItsOrder) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  ASSERT_EQ(note(0, other_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model_, other_), ACL_SUCCESS);
  ASSERT_EQ(note(2, other_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(ran_, (std::vector{0, 1, 2}));
}

TEST_F(ReplayTest, DestroyedModelsFinishTheirQueuedReplays) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(note(i), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIDestroy(model_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(ran_.size(), 100U);
  EXPECT_EQ(released_, 100);
}

TEST_F(ReplayTest, OtherStreamsJoinByEventsAndComeBack) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(fork_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, fork_), ACL_SUCCESS);
  EXPECT_EQ(status(other_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  ASSERT_EQ(note(2, other_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(join_, other_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, join_), ACL_SUCCESS);
  ASSERT_EQ(note(3), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  EXPECT_EQ(status(other_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  ASSERT_EQ(replay(), ACL_SUCCESS);
  EXPECT_EQ(ran_, (std::vector{1, 2, 3}));
}

TEST_F(ReplayTest, AGraphMayBePartOfAnother) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  aclmdlRI inner = model_;
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(note(0), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(inner, stream_), ACL_SUCCESS);
  ASSERT_EQ(note(2), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIDestroy(inner), ACL_SUCCESS);
  ASSERT_EQ(replay(), ACL_SUCCESS);
  EXPECT_EQ(ran_, (std::vector{0, 1, 2}));
}

TEST_F(ReplayTest, CopiesAndFillsAreParts) {
  void* device = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  auto* host = static_cast<unsigned char*>(pinned);
  std::fill(host, host + 64, 1);
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(device, 64, pinned, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(device, 32, 9, 32, stream_), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  std::fill(host, host + 64, 5);  // read by the replay, not by the capture
  ASSERT_EQ(replay(), ACL_SUCCESS);
  const auto bytes = download<std::array<unsigned char, 64>>(device);
  EXPECT_EQ(bytes[0], 9);
  EXPECT_EQ(bytes[63], 5);
}

TEST_F(ReplayTest, EachReplayRaisesTheWriteEpochs) {
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(device, 1024, 9, 1024, stream_), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    const uint64_t before = softnpuLastWriteEpoch(device, 1024);
    const uint64_t other = softnpuLastWriteEpoch(static_cast<char*>(device) + 2048, 1024);
    ASSERT_EQ(replay(), ACL_SUCCESS);
    EXPECT_GT(softnpuLastWriteEpoch(device, 1024), before);
    EXPECT_EQ(softnpuLastWriteEpoch(static_cast<char*>(device) + 2048, 1024), other);
  }
}

TEST_F(ReplayTest, AFailureNamesItsTaskAndTheOthersRun) {
  const auto fail = [](void*, char* message, size_t size) -> aclError {
    std::string("the value is odd").copy(message, size - 1);
    return ACL_ERROR_RT_PARAM_INVALID;
  };
  const softnpuTask task = make_task("checked", SOFTNPU_COST_SMALL, fail);
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  ASSERT_EQ(softnpuLaunch(stream_, &task), ACL_SUCCESS);
  ASSERT_EQ(note(2), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  EXPECT_EQ(replay(), ACL_ERROR_RT_PARAM_INVALID);
  const std::string message = recent_error();
  EXPECT_NE(message.find("checked (task 1 of the captured graph): the value is odd"), std::string::npos) << message;
  EXPECT_EQ(ran_, (std::vector{1, 2}));
}

// Counts what a graph asks of fusion. Each group takes all candidates.
struct CountedFusion {
  static inline int analyses = 0;
  static inline int runs = 0;
  static inline int releases = 0;
  static inline std::vector<size_t> last_readers;
  static constexpr softnpuFusion kFunctions = {
      [](void* const*, const size_t* readers, size_t count, void** group) -> size_t {
        ++analyses;
        last_readers.assign(readers, readers + count);
        *group = &analyses;
        return count;
      },
      [](void*, void*, char*, size_t) -> aclError {
        ++runs;
        return ACL_SUCCESS;
      },
      [](void*) { ++releases; }};
};

TEST_F(ReplayTest, GroupsAreFusedOnceWithExactLiveness) {
  std::array<char, 3> outputs{};
  std::array<softnpuFusible, 3> fusible{};
  ASSERT_EQ(begin(), ACL_SUCCESS);
  for (size_t i = 0; i < 3; ++i) {
    fusible[i] = {&CountedFusion::kFunctions, nullptr, &outputs[i]};
    softnpuTask task = make_task("fusible", 0, [](void*, char*, size_t) -> aclError { return 1; });
    task.fusible = &fusible[i];
    ASSERT_EQ(softnpuLaunch(stream_, &task), ACL_SUCCESS);
    if (i == 1) {
      ASSERT_EQ(softnpuOutputDead(stream_, outputs.data(), 1), ACL_SUCCESS);
    }
  }
  ASSERT_EQ(end(), ACL_SUCCESS);
  EXPECT_EQ(CountedFusion::analyses, 1);
  EXPECT_EQ(CountedFusion::last_readers, (std::vector<size_t>{1, SIZE_MAX, SIZE_MAX}));
  for (int i = 0; i < 5; ++i) ASSERT_EQ(replay(), ACL_SUCCESS);
  EXPECT_EQ(CountedFusion::analyses, 1);
  EXPECT_EQ(CountedFusion::runs, 5);
  ASSERT_EQ(aclmdlRIDestroy(model_), ACL_SUCCESS);
  EXPECT_EQ(CountedFusion::releases, 1);
}

TEST_F(ReplayTest, TheTraceNamesTasksAndDependencies) {
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(note(1), ACL_SUCCESS);
  ASSERT_EQ(note(2), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS);
  const std::string path = ::testing::TempDir() + "captured_graph.json";
  ASSERT_EQ(aclmdlRIDebugJsonPrint(model_, path.c_str(), 0), ACL_SUCCESS);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_NE(text.str().find("\"name\": \"note\""), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("\"task\": 1, \"after\": [0]"), std::string::npos) << text.str();
  EXPECT_EQ(aclmdlRIDebugJsonPrint(model_, "/nowhere/graph.json", 0), ACL_ERROR_RT_FILE_WRITE);
  ::testing::internal::CaptureStdout();
  ASSERT_EQ(aclmdlRIDebugPrint(model_), ACL_SUCCESS);
  EXPECT_NE(::testing::internal::GetCapturedStdout().find("1 note, stream"), std::string::npos);
}

}  // namespace
