// Results that nobody sees are not brought to their places: which they are, and that all others have the same bytes.

#include "nnopbase/together.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_muls.h"
#include "aclnnop/aclnn_neg.h"
#include "held.h"

namespace {

using softnpu::Link;
using softnpu::Producer;
using softnpu::Sweep;
using softnpu::SweepMemory;
using softnpu::SweepMove;

constexpr int64_t kElements = 10;
constexpr int64_t kPlace = 100;  // bytes from one place to the next

// Places are numbers: place 1 is memory at 100.
char* address(int place) { return reinterpret_cast<char*>(static_cast<uintptr_t>(place * kPlace)); }
std::string name_of(const char* at) {
  return at == nullptr ? "-" : std::to_string(reinterpret_cast<uintptr_t>(at) / kPlace);
}
SweepMemory memory(int place, bool is_written, uint32_t element_bytes = 4) {
  return {address(place), address(place) + 4 * kElements, element_bytes, is_written};
}

using Journal = std::vector<std::string>;

class Makes final : public Producer {
 public:
  Makes(Journal* journal, int place, std::vector<int> read, int64_t part)
      : journal_(journal), place_(place), read_(std::move(read)), part_(part) {}
  SweepMemory result() const override { return memory(place_, true); }
  void add_memory(const void* workspace, std::vector<SweepMemory>* to) const override {
    for (int place : read_) to->push_back(memory(place, false, 0));
    const auto* space = static_cast<const char*>(workspace);
    if (space != nullptr) to->push_back({space, space + 4, 0, true});
  }
  void make(void*, char* to, const Made& made) const override {
    journal_->push_back("makes " + name_of(to));
    for (int64_t at = 0; at < kElements; at += part_) made(at, at + part_);
  }

 private:
  Journal* journal_;
  int place_;
  std::vector<int> read_;
  int64_t part_;  // elements that are made at a time
};

class Goes final : public Sweep {
 public:
  Goes(Journal* journal, const std::vector<int>& from, int to, bool may_move = true)
      : journal_(journal), to_(address(to)), may_move_(may_move) {
    for (int place : from) from_.push_back(address(place));
  }
  int64_t count() const override { return kElements; }
  void add_memory(std::vector<SweepMemory>* to) const override {
    to->push_back({to_, to_ + 4 * kElements, 4, true});
    for (const char* at : from_) to->push_back({at, at + 4 * kElements, 4, false});
  }
  void run(int64_t first, int64_t last) const override {
    std::string said = last - first == kElements ? "" : std::to_string(first) + ".. ";
    for (const char* at : from_) said += name_of(at) + " ";
    journal_->push_back(said + "to " + name_of(to_));
  }
  void run_together(std::span<const Sweep* const> sweeps, int64_t first, int64_t last) const override {
    for (const Sweep* sweep : sweeps) sweep->run(first, last);
  }
  bool may_move() const override { return may_move_; }
  std::unique_ptr<const Sweep> moved(const SweepMove& move) const override {
    auto made = std::make_unique<Goes>(*this);
    for (const char*& at : made->from_) {
      if (move.read != nullptr && at == move.read) at = move.read_at;
    }
    if (move.written_at != nullptr) made->to_ = move.written_at;
    return made;
  }

 private:
  Journal* journal_;
  std::vector<const char*> from_;
  char* to_;
  bool may_move_;
};

// What is journalled of links of which as many go together as may.
class TogetherTest : public ::testing::Test {
 protected:
  Journal run(const std::vector<Link>& links) {
    journal_.clear();
    const std::span<const Link> all(links);
    const size_t count = softnpu::count_together(all);
    journal_.push_back(std::to_string(count));
    if (count > 1) softnpu::run_together(all.first(count));
    return journal_;
  }
  Makes makes(int place, std::vector<int> read = {9}, int64_t part = kElements) {
    return {&journal_, place, std::move(read), part};
  }
  Goes goes(const std::vector<int>& from, int to) { return {&journal_, from, to}; }

  Journal journal_;
};

TEST_F(TogetherTest, WhatIsDiscardedGoesToThePlaceOfTheLast) {
  const Makes product = makes(1);
  const Goes norm = goes({1}, 2), sum = goes({2, 5}, 2), relu = goes({2}, 3);
  EXPECT_EQ(run({{&product, nullptr, nullptr, 2}, {nullptr, &norm}, {nullptr, &sum}, {nullptr, &relu}}),
            (Journal{"4", "makes 2", "2 to 2", "2 5 to 2", "2 to 3"}));
  EXPECT_EQ(run({{&product, nullptr, nullptr, 2},
                 {nullptr, &norm, nullptr, 4},
                 {nullptr, &sum, nullptr, 4},
                 {nullptr, &relu}}),
            (Journal{"4", "makes 3", "3 to 3", "3 5 to 3", "3 to 3"}));
}

TEST_F(TogetherTest, WhatMayBeSeenIsMade) {
  const Makes product = makes(1);
  const Goes norm = goes({1}, 2);
  EXPECT_EQ(run({{&product}, {nullptr, &norm}}), Journal{"1"});
  EXPECT_EQ(run({{&product, nullptr, nullptr, 3}, {nullptr, &norm}}), Journal{"1"});
  EXPECT_EQ(run({{&product, nullptr, nullptr, 2}}), Journal{"1"});
  const Goes later = goes({1, 2}, 3);
  EXPECT_EQ(run({{&product, nullptr, nullptr, 3}, {nullptr, &norm}, {nullptr, &later}}), Journal{"1"});
}

TEST_F(TogetherTest, APlaceThatIsReadIsNotWrittenBefore) {
  const Makes product = makes(1, {2});  // what its own operand's memory is used for next
  const Goes norm = goes({1}, 2);
  EXPECT_EQ(run({{&product, nullptr, nullptr, 2}, {nullptr, &norm}}), (Journal{"2", "makes 1", "1 to 2"}));
  const Makes other = makes(1);
  EXPECT_EQ(run({{&other, nullptr, address(2) + 8, 2}, {nullptr, &norm}}), (Journal{"2", "makes 1", "1 to 2"}));
  const Goes sum = goes({1, 3}, 2), relu = goes({2}, 3);  // place 3 is an addend first
  EXPECT_EQ(run({{&other, nullptr, nullptr, 2}, {nullptr, &sum, nullptr, 3}, {nullptr, &relu}}),
            (Journal{"3", "makes 2", "2 3 to 2", "2 to 3"}));
}

TEST_F(TogetherTest, PartsAreSweptAsSoonAsTheyAreMade) {
  const Makes product = makes(1, {9}, 5);
  const Goes norm = goes({1}, 2);
  EXPECT_EQ(run({{&product, nullptr, nullptr, 2}, {nullptr, &norm}}),
            (Journal{"2", "makes 2", "0.. 2 to 2", "5.. 2 to 2"}));
  const Makes other = makes(1, {2}, 5);  // which the next part reads
  EXPECT_EQ(run({{&other, nullptr, nullptr, 2}, {nullptr, &norm}}), (Journal{"2", "makes 1", "1 to 2"}));
}

TEST_F(TogetherTest, SweepsAloneLeaveOutWhatNobodySees) {
  const Goes norm = goes({1}, 2), relu = goes({2}, 3), twice = goes({3}, 4);
  EXPECT_EQ(run({{nullptr, &norm, nullptr, 2}, {nullptr, &relu}}), (Journal{"2", "1 to 3", "3 to 3"}));
  EXPECT_EQ(run({{nullptr, &norm}, {nullptr, &relu, nullptr, 3}, {nullptr, &twice}}),
            (Journal{"3", "1 to 2", "2 to 4", "4 to 4"}));
  const Goes sum = goes({2, 3}, 4);
  EXPECT_EQ(run({{nullptr, &norm, nullptr, 3}, {nullptr, &relu, nullptr, 3}, {nullptr, &sum}}),
            (Journal{"3", "1 to 2", "2 to 4", "2 4 to 4"}));
}

TEST_F(TogetherTest, WhatCannotMoveStays) {
  const Makes product = makes(1);
  const Goes fixed(&journal_, {1}, 2, false);
  EXPECT_EQ(run({{&product, nullptr, nullptr, 2}, {nullptr, &fixed}}), Journal{"1"});
}

constexpr int64_t kSide = 500;
constexpr int64_t kCount = kSide * kSide;
constexpr size_t kBytes = kCount * sizeof(float);
constexpr size_t kBlocks = 6;

// Operators over blocks of device memory, as a program with an allocator calls them.
class DiscardTest : public AclTest {
 protected:
  enum Kind { kProduct, kAdd, kNeg, kScale, kKinds };
  struct Step {
    int kind;
    size_t a, b, out;
    std::array<bool, kBlocks> discards{};  // behind it
  };

  void SetUp() override {
    AclTest::SetUp();
    const std::array<int64_t, 2> sizes{kSide, kSide};
    std::uniform_real_distribution<float> uniform(-0.1F, 0.1F);
    for (size_t i = 0; i < kBlocks; ++i) {
      ASSERT_EQ(aclrtMalloc(&memory_[i], kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      tensors_[i] = aclCreateTensor(sizes.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, sizes.data(), 2, memory_[i]);
      start_[i].resize(kCount);
      for (float& value : start_[i]) value = uniform(random_);
    }
    const float two = 2;
    scalar_ = aclCreateScalar(const_cast<float*>(&two), ACL_FLOAT);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  }

  void TearDown() override {
    ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    aclDestroyScalar(scalar_);
    for (size_t i = 0; i < kBlocks; ++i) {
      aclDestroyTensor(tensors_[i]);
      aclrtFree(memory_[i]);
    }
    AclTest::TearDown();
  }

  void upload_all() {
    for (size_t i = 0; i < kBlocks; ++i) {
      ASSERT_EQ(aclrtMemcpy(memory_[i], kBytes, start_[i].data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    }
  }

  std::vector<float> content(size_t block) {
    std::vector<float> found(kCount);
    EXPECT_EQ(aclrtMemcpy(found.data(), kBytes, memory_[block], kBytes, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return found;
  }

  void call(const Step& step) {
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    aclTensor* const out = tensors_[step.out];
    aclTensor* const a = tensors_[step.a];
    aclnnStatus (*phase)(void*, uint64_t, aclOpExecutor*, aclrtStream) = nullptr;
    switch (step.kind) {
      case kProduct:
        ASSERT_EQ(aclnnMmGetWorkspaceSize(a, tensors_[step.b], out, 0, &bytes, &executor), ACL_SUCCESS);
        phase = &aclnnMm;
        break;
      case kAdd:
        ASSERT_EQ(aclnnAddGetWorkspaceSize(a, tensors_[step.b], scalar_, out, &bytes, &executor), ACL_SUCCESS);
        phase = &aclnnAdd;
        break;
      case kNeg:
        ASSERT_EQ(aclnnNegGetWorkspaceSize(a, out, &bytes, &executor), ACL_SUCCESS);
        phase = &aclnnNeg;
        break;
      default:
        ASSERT_EQ(aclnnMulsGetWorkspaceSize(a, scalar_, out, &bytes, &executor), ACL_SUCCESS);
        phase = &aclnnMuls;
    }
    void* workspace = nullptr;
    if (bytes > 0) {
      ASSERT_EQ(aclrtMalloc(&workspace, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      workspaces_.push_back(workspace);
    }
    ASSERT_EQ(phase(workspace, bytes, executor, stream_), ACL_SUCCESS);
    for (size_t i = 0; i < kBlocks; ++i) {
      if (step.discards[i]) {
        ASSERT_EQ(softnpuDiscard(stream_, memory_[i], kBytes), ACL_SUCCESS);
      }
    }
  }

  void synchronize() {
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    for (void* workspace : workspaces_) aclrtFree(workspace);
    workspaces_.clear();
  }

  // Runs the steps behind a task that holds the stream.
  void run_held(const std::vector<Step>& steps) {
    upload_all();
    HeldTask held;
    ASSERT_EQ(held.launch(stream_), ACL_SUCCESS);
    for (const Step& step : steps) call(step);
    held.let_go();
    synchronize();
  }

  void run_one_by_one(const std::vector<Step>& steps) {
    upload_all();
    for (const Step& step : steps) {
      call(step);
      synchronize();
    }
  }

  std::mt19937 random_{11};
  std::array<void*, kBlocks> memory_{};
  std::array<aclTensor*, kBlocks> tensors_{};
  std::array<std::vector<float>, kBlocks> start_;
  std::vector<void*> workspaces_;
  aclScalar* scalar_ = nullptr;
  aclrtStream stream_ = nullptr;
};

TEST_F(DiscardTest, AProductThatNobodySeesIsNotWritten) {
  const Step product{kProduct, 0, 1, 2, {}};
  Step last{kNeg, 2, 0, 3, {}};
  run_one_by_one({product, last});
  const auto expected = content(3);
  last.discards[2] = true;
  run_held({product, last});
  EXPECT_EQ(content(3), expected);
  EXPECT_EQ(content(2), start_[2]);  // as it was
}

TEST_F(DiscardTest, AProductThatSomebodySeesIsWritten) {
  const Step product{kProduct, 0, 1, 2, {}};
  Step last{kNeg, 2, 0, 3, {}};
  run_one_by_one({product, last});
  const auto expected = content(2);
  run_held({product, last});
  EXPECT_EQ(content(2), expected);
  Step reads{kNeg, 2, 0, 4, {}};
  reads.discards[2] = true;
  Step overwrites{kProduct, 0, 1, 5, {}};
  run_held({product, last, overwrites, reads});
  EXPECT_EQ(content(2), expected);

  // A copy between them, and one of another stream behind an event.
  upload_all();
  HeldTask held;
  ASSERT_EQ(held.launch(stream_), ACL_SUCCESS);
  call(product);
  call(last);
  ASSERT_EQ(aclrtMemcpyAsync(memory_[4], kBytes, memory_[2], kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
            ACL_SUCCESS);
  ASSERT_EQ(softnpuDiscard(stream_, memory_[2], kBytes), ACL_SUCCESS);
  held.let_go();
  synchronize();
  EXPECT_EQ(content(4), expected);

  upload_all();
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  HeldTask again;
  ASSERT_EQ(again.launch(stream_), ACL_SUCCESS);
  call(product);
  call(last);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(memory_[4], kBytes, memory_[2], kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, other), ACL_SUCCESS);
  ASSERT_EQ(softnpuDiscard(stream_, memory_[2], kBytes), ACL_SUCCESS);
  again.let_go();
  synchronize();
  ASSERT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(content(4), expected);
  ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

// Programs that discard a block where nobody reads it before it is written again.
TEST_F(DiscardTest, RandomProgramsGiveTheSameBytesWhereSomebodyLooks) {
  uint64_t before = 0;
  ASSERT_EQ(softnpuGetJoinedTasks(0, &before), ACL_SUCCESS);
  for (int round = 0; round < 12; ++round) {
    std::vector<Step> steps(24);
    for (Step& step : steps) {
      step = {static_cast<int>(random_() % (size_t{2} * kKinds)), random_() % kBlocks, random_() % kBlocks,
              random_() % kBlocks};
      if (step.kind >= kKinds) step.kind = kNeg;
      while (step.kind == kProduct && (step.out == step.a || step.out == step.b)) step.out = random_() % kBlocks;
    }
    std::array<bool, kBlocks> is_read{};  // from here on, before it is written; at the end nobody reads half of them
    for (size_t i = 0; i < kBlocks; ++i) is_read[i] = i % 2 == 0;
    for (size_t i = steps.size(); i-- > 0;) {
      Step& step = steps[i];
      for (size_t block : {step.a, step.b, step.out}) step.discards[block] = !is_read[block];
      is_read[step.out] = false;
      is_read[step.a] = true;
      if (step.kind == kProduct || step.kind == kAdd) is_read[step.b] = true;
    }
    run_one_by_one(steps);
    std::array<std::vector<float>, kBlocks> expected;
    for (size_t i = 0; i < kBlocks; i += 2) expected[i] = content(i);
    run_held(steps);
    for (size_t i = 0; i < kBlocks; i += 2) EXPECT_EQ(content(i), expected[i]) << "round " << round << " block " << i;
  }
  uint64_t after = 0;
  ASSERT_EQ(softnpuGetJoinedTasks(0, &after), ACL_SUCCESS);
  EXPECT_GT(after, before);
}

}  // namespace
