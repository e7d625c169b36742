// Which loops may be fused, and that fused tasks give the same bytes as unfused ones.

#include <algorithm>
#include <array>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_muls.h"
#include "aclnnop/aclnn_neg.h"
#include "blocking_task.h"
#include "fusion/aliasing.h"

namespace {

using softnpu::count_fusible_loops;
using softnpu::ElementwiseLoop;

class Touching final : public ElementwiseLoop {
 public:
  Touching(int64_t count, std::vector<softnpu::MemoryAccess> memory) : count_(count), memory_(std::move(memory)) {}
  int64_t count() const override { return count_; }
  void add_accesses(std::vector<softnpu::MemoryAccess>* to) const override {
    to->insert(to->end(), memory_.begin(), memory_.end());
  }
  void run(int64_t, int64_t) const override {}
  double cost_per_element() const override { return 1; }

 private:
  int64_t count_;
  std::vector<softnpu::MemoryAccess> memory_;
};

size_t fusible(std::initializer_list<Touching> loops) {
  std::vector<const ElementwiseLoop*> all;
  for (const Touching& loop : loops) all.push_back(&loop);
  return count_fusible_loops(all);
}

const char* at(uintptr_t address) { return reinterpret_cast<const char*>(address); }

softnpu::MemoryAccess reads(uintptr_t begin) { return {at(begin), at(begin + 40), 4, false}; }
softnpu::MemoryAccess writes(uintptr_t begin) { return {at(begin), at(begin + 40), 4, true}; }
softnpu::MemoryAccess sees(uintptr_t begin) { return {at(begin), at(begin + 40), 0, false}; }

TEST(FusibleLoopsTest, SameElementsMayBeWrittenAndRead) {
  const Touching makes(10, {writes(100), reads(200)});
  EXPECT_EQ(fusible({makes, Touching(10, {writes(300), reads(100)})}), 2U);
  EXPECT_EQ(fusible({makes, Touching(10, {writes(100), reads(100)}), Touching(10, {writes(200), reads(100)})}), 3U);
  EXPECT_EQ(fusible({makes, Touching(10, {writes(300), sees(200)})}), 2U);
}

TEST(FusibleLoopsTest, PrologueOutputIsTouchedByNoOtherLoop) {
  const softnpu::MemoryAccess statistics{at(300), at(340), 0, true};
  const Touching norm(10, {writes(100), reads(200), statistics});
  EXPECT_EQ(fusible({norm, Touching(10, {writes(100), reads(100)})}), 2U);
  EXPECT_EQ(fusible({norm, Touching(10, {writes(400), sees(300)})}), 1U);
  EXPECT_EQ(fusible({Touching(10, {writes(400), sees(300)}), norm}), 1U);
  EXPECT_EQ(fusible({norm, Touching(10, {writes(400), reads(500), statistics})}), 1U);
}

TEST(FusibleLoopsTest, OtherElementsAreNotFusible) {
  const Touching makes(10, {writes(100), reads(200)});
  EXPECT_EQ(fusible({makes, Touching(10, {writes(300), reads(104)})}), 1U);  // of a neighbour
  EXPECT_EQ(fusible({makes, Touching(10, {writes(300), sees(100)})}), 1U);   // the whole buffer
  EXPECT_EQ(fusible({makes, Touching(10, {writes(204)})}), 1U);
  EXPECT_EQ(fusible({makes, Touching(11, {writes(300)})}), 1U);
  EXPECT_EQ(fusible({makes, Touching(10, {writes(300), reads(100)}), Touching(10, {writes(400), reads(304)})}), 2U);
}

TEST(FusibleLoopsTest, ListInAnotherOrderIsNotFusible) {
  const auto later = [](softnpu::MemoryAccess memory) {
    memory.first = 10;
    return memory;
  };
  const Touching makes(20, {writes(100), later(writes(200))});
  EXPECT_EQ(fusible({makes, Touching(20, {reads(100), later(reads(200)), writes(300)})}), 2U);
  EXPECT_EQ(fusible({makes, Touching(20, {reads(200), later(reads(100)), writes(300)})}), 1U);
  EXPECT_EQ(fusible({Touching(20, {reads(100), later(reads(200))}), Touching(20, {reads(200), later(reads(100))})}),
            2U);
}

using FusedTasksTest = AclTest;

// Random programs of additions, negations and products over five tensors, queued behind a blocking task, against the
// same programs with a wait after each operator.
TEST_F(FusedTasksTest, FusedResultIsBitwiseEqualToUnfused) {
  constexpr int64_t kCount = 300'001;
  constexpr size_t kBytes = kCount * sizeof(float);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::array<std::vector<float>, 5> start;
  for (auto& values : start) {
    values.resize(kCount);
    for (float& value : values) value = uniform(random);
  }
  std::array<void*, 5> memory{};
  std::array<aclTensor*, 5> tensors{};
  for (size_t i = 0; i < memory.size(); ++i) {
    ASSERT_EQ(aclrtMalloc(&memory[i], kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    tensors[i] = aclCreateTensor(&kCount, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &kCount, 1, memory[i]);
  }
  float two = 2;
  aclScalar* scalar = aclCreateScalar(&two, ACL_FLOAT);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);

  const auto step = [&](unsigned kind, size_t a, size_t b, size_t out) {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    if (kind == 0) {
      ASSERT_EQ(aclnnAddGetWorkspaceSize(tensors[a], tensors[b], scalar, tensors[out], &bytes, &executor), ACL_SUCCESS);
      ASSERT_EQ(aclnnAdd(nullptr, 0, executor, stream), ACL_SUCCESS);
    } else if (kind == 1) {
      ASSERT_EQ(aclnnNegGetWorkspaceSize(tensors[a], tensors[out], &bytes, &executor), ACL_SUCCESS);
      ASSERT_EQ(aclnnNeg(nullptr, 0, executor, stream), ACL_SUCCESS);
    } else {
      ASSERT_EQ(aclnnMulsGetWorkspaceSize(tensors[a], scalar, tensors[out], &bytes, &executor), ACL_SUCCESS);
      ASSERT_EQ(aclnnMuls(nullptr, 0, executor, stream), ACL_SUCCESS);
    }
  };
  const auto upload = [&] {
    for (size_t i = 0; i < memory.size(); ++i)
      ASSERT_EQ(aclrtMemcpy(memory[i], kBytes, start[i].data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  };
  const auto result = [&] {
    std::array<std::vector<float>, 5> found;
    for (size_t i = 0; i < memory.size(); ++i) {
      found[i].resize(kCount);
      EXPECT_EQ(aclrtMemcpy(found[i].data(), kBytes, memory[i], kBytes, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    }
    return found;
  };

  uint64_t before = 0;
  ASSERT_EQ(softnpuGetFusedTasks(0, &before), ACL_SUCCESS);
  for (int round = 0; round < 4; ++round) {
    std::array<std::array<unsigned, 4>, 20> program{};
    for (auto& each : program) {
      for (size_t i = 0; i < each.size(); ++i) each[i] = static_cast<unsigned>(random() % (i == 0 ? 3 : 5));
    }
    upload();
    for (const auto& [kind, a, b, out] : program) {
      step(kind, a, b, out);
      ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    }
    const auto expected = result();
    upload();
    BlockingTask blocking;
    ASSERT_EQ(blocking.launch(stream), ACL_SUCCESS);
    for (const auto& [kind, a, b, out] : program) step(kind, a, b, out);
    blocking.release();
    ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(result(), expected);
  }
  uint64_t after = 0;
  ASSERT_EQ(softnpuGetFusedTasks(0, &after), ACL_SUCCESS);
  EXPECT_GE(after - before, 4U * 18U);  // 20 tasks: two groups

  aclDestroyScalar(scalar);
  for (size_t i = 0; i < memory.size(); ++i) {
    aclDestroyTensor(tensors[i]);
    aclrtFree(memory[i]);
  }
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

}  // namespace
