// Task groups: tasks of a captured graph that are replaced between its replays, and while one waits.

#include <atomic>
#include <chrono>
#include <future>
#include <vector>

#include "capture_fixture.h"

namespace {

class TaskGroupTest : public CaptureTest {
 protected:
  // A graph of the tasks 1, 2, 3; the group is `note(2)`.
  void capture() {
    ASSERT_EQ(begin(), ACL_SUCCESS);
    ASSERT_EQ(note(1), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS) << recent_error();
    ASSERT_EQ(note(2), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group_), ACL_SUCCESS) << recent_error();
    ASSERT_EQ(note(3), ACL_SUCCESS);
    ASSERT_EQ(end(), ACL_SUCCESS) << recent_error();
  }
  aclError update(const std::vector<int>& numbers) {
    aclError code = aclmdlRICaptureTaskUpdateBegin(other_, group_);
    for (const int number : numbers) code = code == ACL_SUCCESS ? note(number, other_) : code;
    return code == ACL_SUCCESS ? aclmdlRICaptureTaskUpdateEnd(other_) : code;
  }

  aclrtTaskGrp group_ = nullptr;
};

TEST_F(TaskGroupTest, LaterReplaysRunTheUpdate) {
  capture();
  ASSERT_EQ(replay(), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(update({7}), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(replay(), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(replay(), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(ran_, (std::vector{1, 2, 3, 1, 7, 3, 1, 7, 3}));
  EXPECT_EQ(released_, 1);  // the task that was replaced
  ASSERT_EQ(aclmdlRIDestroy(model_), ACL_SUCCESS);
  EXPECT_EQ(released_, 4);
}

TEST_F(TaskGroupTest, AnUpdateIsInTheOrderOfItsStream) {
  capture();
  aclrtEvent before = nullptr;
  ASSERT_EQ(aclrtCreateEventExWithFlag(&before, ACL_EVENT_EXTERNAL), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, before), ACL_SUCCESS);
  ASSERT_EQ(update({7}), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(replay(), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(ran_, (std::vector{1, 2, 3}));
  ASSERT_EQ(aclrtRecordEvent(before, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  ASSERT_EQ(replay(), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(ran_, (std::vector{1, 2, 3, 1, 7, 3}));
  EXPECT_EQ(aclrtDestroyEvent(before), ACL_SUCCESS);
}

TEST_F(TaskGroupTest, AReplayThatWaitsRunsTheUpdateThatItWaitsFor) {
  aclrtEvent updated = nullptr;
  ASSERT_EQ(aclrtCreateEventExWithFlag(&updated, ACL_EVENT_EXTERNAL), ACL_SUCCESS);
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, updated), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(aclrtResetEvent(updated, stream_), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(note(2), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group_), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(end(), ACL_SUCCESS) << recent_error();
  for (const int number : {7, 8, 9}) {
    ASSERT_EQ(aclmdlRIExecuteAsync(model_, stream_), ACL_SUCCESS) << recent_error();
    ASSERT_EQ(update({number}), ACL_SUCCESS) << recent_error();
    ASSERT_EQ(aclrtRecordEvent(updated, other_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << recent_error();
  }
  EXPECT_EQ(ran_, (std::vector{7, 8, 9}));
  EXPECT_EQ(aclrtDestroyEvent(updated), ACL_SUCCESS);
}

TEST_F(TaskGroupTest, AnUpdateOfOtherTasksChangesNothing) {
  capture();
  EXPECT_EQ(update({7, 8}), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_error().find("the update has 2 tasks, the task group 1"), std::string::npos);
  EXPECT_EQ(update({}), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(replay(), ACL_SUCCESS);
  EXPECT_EQ(ran_, (std::vector{1, 2, 3}));
  ran_.clear();
  EXPECT_EQ(note(4, other_), ACL_SUCCESS);  // the stream of the failed updates is usable
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(ran_, std::vector{4});
}

TEST_F(TaskGroupTest, CallsWithoutTheirBeginFail) {
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(stream_), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(stream_, nullptr), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(begin(), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(group_, nullptr);
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(stream_), ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
  EXPECT_EQ(end(), ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
  EXPECT_NE(recent_error().find("has an open task group: call aclmdlRICaptureTaskGrpEnd"), std::string::npos);
  EXPECT_EQ(model_, nullptr);
  expect_usable();
}

TEST_F(TaskGroupTest, AnUpdateHasNoGroups) {
  capture();
  ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(other_, group_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(other_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(note(7, other_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(other_), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(replay(), ACL_SUCCESS);
  EXPECT_EQ(ran_, (std::vector{1, 7, 3}));
}

TEST_F(TaskGroupTest, AGroupIsUpdatedAfterItsCapture) {
  ASSERT_EQ(begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
  ASSERT_EQ(note(2), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group_), ACL_SUCCESS);
  EXPECT_EQ(update({7}), ACL_ERROR_RT_MODEL_CAPTURED);
  EXPECT_NE(recent_error().find("is still captured: end its capture first"), std::string::npos);
  EXPECT_EQ(status(other_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  ASSERT_EQ(end(), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(update({7}), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(replay(), ACL_SUCCESS);
  EXPECT_EQ(ran_, std::vector{7});
}

TEST_F(TaskGroupTest, AGroupOfAResetDeviceIsNotUpdated) {
  capture();
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS) << recent_error();
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&other_), ACL_SUCCESS);
  EXPECT_EQ(update({7}), ACL_ERROR_RT_MODEL_CONTEXT);
  EXPECT_NE(recent_error().find("was reset after model"), std::string::npos);
}

TEST_F(TaskGroupTest, AModelThatIsDestroyedDuringAnUpdateFailsIt) {
  capture();
  ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(other_, group_), ACL_SUCCESS);
  EXPECT_EQ(note(7, other_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIDestroy(model_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(other_), ACL_ERROR_RT_MODEL_CONTEXT);
  EXPECT_NE(recent_error().find("the model of the task group was destroyed"), std::string::npos);
  EXPECT_EQ(status(other_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
}

TEST_F(TaskGroupTest, AGraphWithGroupsIsNoPartOfAnother) {
  capture();
  aclmdlRI inner = model_;
  ASSERT_EQ(begin(), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIExecuteAsync(inner, stream_), ACL_ERROR_RT_STREAM_CAPTURED);
  EXPECT_NE(recent_error().find("a replay of a graph with task groups cannot be part of a graph"), std::string::npos);
  EXPECT_EQ(end(), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  model_ = inner;
  EXPECT_EQ(replay(), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(ran_, (std::vector{1, 2, 3}));
}

TEST_F(TaskGroupTest, AnUpdateDoesNotWaitForTheTaskThatItReplaces) {
  struct Gate {
    std::atomic<bool> is_running{false};
    std::atomic<bool> is_open{false};
  } gate;
  const softnpuTask blocking = make_task(
      "note", SOFTNPU_COST_LARGE,
      [](void* state, char*, size_t) -> aclError {
        auto& own = *static_cast<Gate*>(state);
        own.is_running = true;
        own.is_running.notify_all();
        own.is_open.wait(false);
        return ACL_SUCCESS;
      },
      &gate);
  ASSERT_EQ(begin(), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(stream_), ACL_SUCCESS);
  ASSERT_EQ(softnpuLaunch(stream_, &blocking), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureTaskGrpEnd(stream_, &group_), ACL_SUCCESS);
  ASSERT_EQ(end(), ACL_SUCCESS) << recent_error();
  // Other threads, since under some configurations a launch runs the work.
  auto replayed = std::async(std::launch::async, [this] { return aclrtSetDevice(0) + replay(); });
  gate.is_running.wait(false);
  auto updated = std::async(std::launch::async, [this] { return aclrtSetDevice(0) + update({7}); });
  const auto state = updated.wait_for(std::chrono::seconds(20));
  gate.is_open = true;
  gate.is_open.notify_all();
  EXPECT_EQ(state, std::future_status::ready);
  EXPECT_EQ(updated.get(), ACL_SUCCESS);
  EXPECT_EQ(replayed.get(), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(replay(), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(ran_, std::vector{7});
}

TEST_F(TaskGroupTest, AGroupIsGoneWithItsModel) {
  capture();
  ASSERT_EQ(aclmdlRIDestroy(model_), ACL_SUCCESS);
  EXPECT_EQ(update({7}), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_error().find("no live task group"), std::string::npos);
}

TEST_F(TaskGroupTest, AnUpdateEndsAsAnUpdateOnly) {
  capture();
  ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(other_, group_), ACL_SUCCESS);
  aclmdlRI model = nullptr;
  EXPECT_EQ(aclmdlRICaptureEnd(other_, &model), ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(note(7, other_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(other_), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(replay(), ACL_SUCCESS);
  EXPECT_EQ(ran_, (std::vector{1, 7, 3}));
}

}  // namespace
