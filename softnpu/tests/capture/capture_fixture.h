#pragma once

#include <array>
#include <functional>
#include <vector>

#include "acl/acl_mdl.h"
#include "acl_fixture.h"
#include "make_task.h"

// A stream to capture, another one to join, and tasks that note their number.
class CaptureTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&other_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateEvent(&fork_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateEvent(&join_), ACL_SUCCESS);
  }

  // Launches a task that appends `number` to ran_.
  aclError note(int number, aclrtStream stream) {
    auto state = std::make_unique<Note>(Note{this, number});
    const softnpuTask task = make_task(
        "note", SOFTNPU_COST_SMALL,
        [](void* opaque, char*, size_t) -> aclError {
          const auto& note = *static_cast<Note*>(opaque);
          note.test->ran_.push_back(note.number);
          return ACL_SUCCESS;
        },
        state.release(),
        [](void* opaque) {
          const std::unique_ptr<Note> note(static_cast<Note*>(opaque));
          ++note->test->released_;
        });
    return softnpuLaunch(stream, &task);
  }
  aclError note(int number) { return note(number, stream_); }

  aclError begin(aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) {
    return aclmdlRICaptureBegin(stream_, mode);
  }
  aclError end() { return aclmdlRICaptureEnd(stream_, &model_); }
  // Replays on stream_ and waits.
  aclError replay() {
    const aclError code = aclmdlRIExecuteAsync(model_, stream_);
    return code == ACL_SUCCESS ? aclrtSynchronizeStream(stream_) : code;
  }
  aclmdlRICaptureStatus status(aclrtStream stream) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRICaptureGetInfo(stream, &status, &model), ACL_SUCCESS);
    return status;
  }

  // The stream runs tasks and can be captured again.
  void expect_usable() {
    ran_.clear();
    EXPECT_EQ(status(stream_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    EXPECT_EQ(note(7), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(ran_, std::vector{7});
    EXPECT_EQ(begin(), ACL_SUCCESS);
    EXPECT_EQ(note(8), ACL_SUCCESS);
    EXPECT_EQ(end(), ACL_SUCCESS);
    EXPECT_EQ(replay(), ACL_SUCCESS);
    EXPECT_EQ(ran_, (std::vector{7, 8}));
    EXPECT_EQ(aclmdlRIDestroy(model_), ACL_SUCCESS);
  }

  struct Note {
    CaptureTest* test;
    int number;
  };
  aclrtStream stream_ = nullptr;
  aclrtStream other_ = nullptr;
  aclrtEvent fork_ = nullptr;
  aclrtEvent join_ = nullptr;
  aclmdlRI model_ = nullptr;
  std::vector<int> ran_;
  int released_ = 0;
};
