#include <gtest/gtest.h>

#include <atomic>

#include "acl_fixture.h"
#include "blocking_task.h"

namespace {

class LaunchEpochTest : public AclTest {};

// What a task and its launch see of the epochs.
struct Seen {
  const void* memory;
  size_t bytes;
  uint64_t launched = UINT64_MAX;
  uint64_t written = UINT64_MAX;
};

aclError look(void* state, char*, size_t) {
  auto& seen = *static_cast<Seen*>(state);
  seen.launched = softnpuLaunchEpoch();
  seen.written = softnpuLastWriteEpoch(seen.memory, seen.bytes);
  return ACL_SUCCESS;
}

TEST_F(LaunchEpochTest, ALaunchRaisesTheEpochsOfWhatItsTaskWrites) {
  constexpr size_t kBytes = 4096;
  void* memory = nullptr;
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  const uint64_t before = softnpuLastWriteEpoch(memory, kBytes);
  BlockingTask blocking;
  ASSERT_EQ(blocking.launch(stream), ACL_SUCCESS);
  blocking.wait_until_it_runs();

  Seen reads{memory, kBytes};
  Seen writes{memory, kBytes};
  const softnpuRange range{memory, kBytes};
  softnpuTask reader = make_task("reads", SOFTNPU_COST_LARGE, look, &reads);
  softnpuTask writer = make_task("writes", SOFTNPU_COST_LARGE, look, &writes);
  writer.written = &range;
  writer.writtenCount = 1;
  ASSERT_EQ(softnpuLaunch(stream, &reader), ACL_SUCCESS);
  EXPECT_EQ(softnpuLastWriteEpoch(memory, kBytes), before);
  ASSERT_EQ(softnpuLaunch(stream, &writer), ACL_SUCCESS);
  const uint64_t raised = softnpuLastWriteEpoch(memory, kBytes);
  EXPECT_GT(raised, before) << "raised by the launch, before the task runs";
  blocking.release();
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);

  EXPECT_EQ(reads.written, raised);
  EXPECT_LT(reads.launched, raised) << "it was launched before the writer: it must not use what was computed later";
  EXPECT_EQ(writes.written, raised);
  EXPECT_LT(writes.launched, raised);
  EXPECT_EQ(softnpuLaunchEpoch(), 0U) << "no task runs on this thread";
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

// A small task runs on the launching thread, here within another task.
TEST_F(LaunchEpochTest, ATaskWithinATaskHasItsOwn) {
  struct Outer {
    aclrtStream inner_stream;
    Seen* inner;
    uint64_t before = 0;
    uint64_t after = 0;
  };
  constexpr size_t kBytes = 4096;
  void* memory = nullptr;
  aclrtStream streams[2] = {};
  ASSERT_EQ(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  for (aclrtStream& stream : streams) ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  softnpuBumpWriteEpoch(memory, kBytes);
  Seen inner{memory, kBytes};
  Outer outer{streams[1], &inner};
  const auto run = [](void* state, char*, size_t) -> aclError {
    auto& own = *static_cast<Outer*>(state);
    own.before = softnpuLaunchEpoch();
    softnpuBumpWriteEpoch(own.inner->memory, own.inner->bytes);
    const softnpuTask task = make_task("inner", SOFTNPU_COST_SMALL, look, own.inner);
    const aclError code = softnpuLaunch(own.inner_stream, &task);
    own.after = softnpuLaunchEpoch();
    return code;
  };
  const softnpuTask task = make_task("outer", SOFTNPU_COST_SMALL, run, &outer);
  ASSERT_EQ(softnpuLaunch(streams[0], &task), ACL_SUCCESS);
  for (aclrtStream stream : streams) ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_GT(outer.before, 0U);
  EXPECT_EQ(outer.after, outer.before);
  EXPECT_GT(inner.launched, outer.before);
  for (aclrtStream stream : streams) EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

}  // namespace
