// Fusion groups: their stages, the stores that they eliminate, and that every value that is read later has the same
// bytes.

#include "fusion/group.h"

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
#include "blocking_task.h"
#include "fusion/elementwise_loop.h"
#include "fusion/fusion_root.h"

namespace {

using softnpu::BufferRebinding;
using softnpu::ElementwiseLoop;
using softnpu::FusionGroup;
using softnpu::FusionRoot;
using softnpu::FusionStage;
using softnpu::MemoryAccess;

constexpr int64_t kElements = 10;
constexpr int64_t kBufferBytes = 100;  // distance between buffers

// Buffers are numbers: buffer 1 is at address 100.
char* address(int buffer) { return reinterpret_cast<char*>(static_cast<uintptr_t>(buffer * kBufferBytes)); }
std::string name_of(const char* at) {
  return at == nullptr ? "-" : std::to_string(reinterpret_cast<uintptr_t>(at) / kBufferBytes);
}
MemoryAccess access(int buffer, bool is_written, uint32_t element_bytes = 4) {
  return {address(buffer), address(buffer) + 4 * kElements, element_bytes, is_written};
}

using Journal = std::vector<std::string>;

class FakeRoot final : public FusionRoot {
 public:
  FakeRoot(Journal* journal, int output, std::vector<int> inputs, int64_t part)
      : journal_(journal), output_(output), inputs_(std::move(inputs)), part_(part) {}
  MemoryAccess output() const override { return access(output_, true); }
  void add_accesses(const void* workspace, std::vector<MemoryAccess>* to) const override {
    for (int input : inputs_) to->push_back(access(input, false, 0));
    const auto* space = static_cast<const char*>(workspace);
    if (space != nullptr) to->push_back({space, space + 4, 0, true});
  }
  void compute(void*, char* to, const OnReady& on_ready) const override {
    journal_->push_back("root to " + name_of(to));
    for (int64_t at = 0; at < kElements; at += part_) on_ready(at, at + part_);
  }

 private:
  Journal* journal_;
  int output_;
  std::vector<int> inputs_;
  int64_t part_;  // elements per on_ready()
};

class FakeLoop final : public ElementwiseLoop {
 public:
  FakeLoop(Journal* journal, const std::vector<int>& inputs, int output, bool can_rebind = true)
      : journal_(journal), output_(address(output)), can_rebind_(can_rebind) {
    for (int input : inputs) inputs_.push_back(address(input));
  }
  int64_t count() const override { return kElements; }
  double cost_per_element() const override { return 1; }
  void add_accesses(std::vector<MemoryAccess>* to) const override {
    to->push_back({output_, output_ + 4 * kElements, 4, true});
    for (const char* at : inputs_) to->push_back({at, at + 4 * kElements, 4, false});
  }
  void run(int64_t first, int64_t last) const override {
    std::string message = last - first == kElements ? "" : std::to_string(first) + ".. ";
    for (const char* at : inputs_) message += name_of(at) + " ";
    journal_->push_back(message + "to " + name_of(output_));
  }
  bool can_rebind() const override { return can_rebind_; }
  std::unique_ptr<const ElementwiseLoop> rebind(const BufferRebinding& rebinding) const override {
    auto copy = std::make_unique<FakeLoop>(*this);
    for (const char*& at : copy->inputs_) {
      if (rebinding.input != nullptr && at == rebinding.input) at = rebinding.new_input;
    }
    if (rebinding.new_output != nullptr) copy->output_ = rebinding.new_output;
    return copy;
  }

 private:
  Journal* journal_;
  std::vector<const char*> inputs_;
  char* output_;
  bool can_rebind_;
};

// run() returns the size of the longest group of some stages, then its actions.
class FusionGroupTest : public ::testing::Test {
 protected:
  Journal run(const std::vector<FusionStage>& stages) {
    journal_.clear();
    const auto group = FusionGroup::analyse(stages);
    journal_.push_back(std::to_string(group ? group->size() : 1));
    if (group) group->run();
    return journal_;
  }
  FakeRoot root(int output, std::vector<int> inputs = {9}, int64_t part = kElements) {
    return {&journal_, output, std::move(inputs), part};
  }
  FakeLoop loop(const std::vector<int>& inputs, int output) { return {&journal_, inputs, output}; }
  // A stage whose output is read by no stage after `last_reader`.
  static FusionStage dead_after(size_t last_reader, const softnpu::Fusible& fusible, void* workspace = nullptr) {
    return {&fusible, workspace, last_reader};
  }
  static FusionStage live(const softnpu::Fusible& fusible) { return {&fusible}; }

  Journal journal_;
};

TEST_F(FusionGroupTest, DeadValueIsWrittenIntoTheLastOutput) {
  const FakeRoot product = root(1);
  const FakeLoop norm = loop({1}, 2), sum = loop({2, 5}, 2), relu = loop({2}, 3);
  EXPECT_EQ(run({dead_after(1, product), live(norm), live(sum), live(relu)}),
            (Journal{"4", "root to 2", "2 to 2", "2 5 to 2", "2 to 3"}));
  EXPECT_EQ(run({dead_after(1, product), dead_after(3, norm), dead_after(3, sum), live(relu)}),
            (Journal{"4", "root to 3", "3 to 3", "3 5 to 3", "3 to 3"}));
}

TEST_F(FusionGroupTest, RootWhoseOutputMayBeReadRunsAlone) {
  const FakeRoot product = root(1);
  const FakeLoop norm = loop({1}, 2);
  EXPECT_EQ(run({live(product), live(norm)}), Journal{"1"});
  EXPECT_EQ(run({dead_after(2, product), live(norm)}), Journal{"1"});
  EXPECT_EQ(run({dead_after(1, product)}), Journal{"1"});
  const FakeLoop later = loop({1, 2}, 3);
  EXPECT_EQ(run({dead_after(2, product), live(norm), live(later)}), Journal{"1"});
}

TEST_F(FusionGroupTest, RootDoesNotWriteWhatIsReadLater) {
  const FakeRoot product = root(1, {2});  // the buffer of its own input is written next
  const FakeLoop norm = loop({1}, 2);
  EXPECT_EQ(run({dead_after(1, product), live(norm)}), (Journal{"2", "root to 1", "1 to 2"}));
  const FakeRoot other = root(1);
  EXPECT_EQ(run({dead_after(1, other, address(2) + 8), live(norm)}), (Journal{"2", "root to 1", "1 to 2"}));
  const FakeLoop sum = loop({1, 3}, 2), relu = loop({2}, 3);  // buffer 3 is an addend first
  EXPECT_EQ(run({dead_after(1, other), dead_after(2, sum), live(relu)}),
            (Journal{"3", "root to 2", "2 3 to 2", "2 to 3"}));
}

TEST_F(FusionGroupTest, LoopsRunOnEachPartOfTheRootAsSoonAsItIsReady) {
  const FakeRoot product = root(1, {9}, 5);
  const FakeLoop norm = loop({1}, 2);
  EXPECT_EQ(run({dead_after(1, product), live(norm)}), (Journal{"2", "root to 2", "0.. 2 to 2", "5.. 2 to 2"}));
  const FakeRoot other = root(1, {2}, 5);  // the next part reads its input
  EXPECT_EQ(run({dead_after(1, other), live(norm)}), (Journal{"2", "root to 1", "1 to 2"}));
}

TEST_F(FusionGroupTest, DeadStoresOfLoopsAreEliminated) {
  const FakeLoop norm = loop({1}, 2), relu = loop({2}, 3), twice = loop({3}, 4);
  EXPECT_EQ(run({dead_after(1, norm), live(relu)}), (Journal{"2", "1 to 3", "3 to 3"}));
  EXPECT_EQ(run({live(norm), dead_after(2, relu), live(twice)}), (Journal{"3", "1 to 2", "2 to 4", "4 to 4"}));
  const FakeLoop sum = loop({2, 3}, 4);
  EXPECT_EQ(run({dead_after(2, norm), dead_after(2, relu), live(sum)}), (Journal{"3", "1 to 2", "2 to 4", "2 4 to 4"}));
}

TEST_F(FusionGroupTest, LoopThatCannotRebindIsNotFusedWithARoot) {
  const FakeRoot product = root(1);
  const FakeLoop fixed(&journal_, {1}, 2, false);
  EXPECT_EQ(run({dead_after(1, product), live(fixed)}), Journal{"1"});
}

constexpr int64_t kSide = 500;
constexpr int64_t kCount = kSide * kSide;
constexpr size_t kBytes = kCount * sizeof(float);
constexpr size_t kBlocks = 6;

// Operators on blocks of device memory, as called by a program with an allocator.
class DeadStoreTest : public AclTest {
 protected:
  enum Kind { kProduct, kAdd, kNeg, kScale, kKinds };
  struct Step {
    int kind;
    size_t a, b, out;
    std::array<bool, kBlocks> frees{};  // freed after the step
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
      if (step.frees[i]) {
        ASSERT_EQ(softnpuOutputDead(stream_, memory_[i], kBytes), ACL_SUCCESS);
      }
    }
  }

  void synchronize() {
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    for (void* workspace : workspaces_) aclrtFree(workspace);
    workspaces_.clear();
  }

  // Runs the steps queued behind a task that holds the stream.
  void run_held(const std::vector<Step>& steps) {
    upload_all();
    BlockingTask blocking;
    ASSERT_EQ(blocking.launch(stream_), ACL_SUCCESS);
    for (const Step& step : steps) call(step);
    blocking.release();
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

TEST_F(DeadStoreTest, DeadProductIsNotStored) {
  const Step product{kProduct, 0, 1, 2, {}};
  Step last{kNeg, 2, 0, 3, {}};
  run_one_by_one({product, last});
  const auto expected = content(3);
  last.frees[2] = true;
  run_held({product, last});
  EXPECT_EQ(content(3), expected);
  EXPECT_EQ(content(2), start_[2]);  // unchanged
}

TEST_F(DeadStoreTest, LiveProductIsStored) {
  const Step product{kProduct, 0, 1, 2, {}};
  Step last{kNeg, 2, 0, 3, {}};
  run_one_by_one({product, last});
  const auto expected = content(2);
  run_held({product, last});
  EXPECT_EQ(content(2), expected);
  Step reads{kNeg, 2, 0, 4, {}};
  reads.frees[2] = true;
  Step overwrites{kProduct, 0, 1, 5, {}};
  run_held({product, last, overwrites, reads});
  EXPECT_EQ(content(2), expected);

  // With a copy between them, and one on another stream that waits for an event.
  upload_all();
  BlockingTask blocking;
  ASSERT_EQ(blocking.launch(stream_), ACL_SUCCESS);
  call(product);
  call(last);
  ASSERT_EQ(aclrtMemcpyAsync(memory_[4], kBytes, memory_[2], kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
            ACL_SUCCESS);
  ASSERT_EQ(softnpuOutputDead(stream_, memory_[2], kBytes), ACL_SUCCESS);
  blocking.release();
  synchronize();
  EXPECT_EQ(content(4), expected);

  upload_all();
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  BlockingTask again;
  ASSERT_EQ(again.launch(stream_), ACL_SUCCESS);
  call(product);
  call(last);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(memory_[4], kBytes, memory_[2], kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, other), ACL_SUCCESS);
  ASSERT_EQ(softnpuOutputDead(stream_, memory_[2], kBytes), ACL_SUCCESS);
  again.release();
  synchronize();
  ASSERT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(content(4), expected);
  ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

// Random programs that free a block if it is not read before its next write.
TEST_F(DeadStoreTest, RandomProgramsKeepAllValuesThatAreRead) {
  uint64_t before = 0;
  ASSERT_EQ(softnpuGetFusedTasks(0, &before), ACL_SUCCESS);
  for (int round = 0; round < 12; ++round) {
    std::vector<Step> steps(24);
    for (Step& step : steps) {
      step = {static_cast<int>(random_() % (size_t{2} * kKinds)), random_() % kBlocks, random_() % kBlocks,
              random_() % kBlocks};
      if (step.kind >= kKinds) step.kind = kNeg;
      while (step.kind == kProduct && (step.out == step.a || step.out == step.b)) step.out = random_() % kBlocks;
    }
    std::array<bool, kBlocks> is_read{};  // later, before its next write; half of the blocks are not read at the end
    for (size_t i = 0; i < kBlocks; ++i) is_read[i] = i % 2 == 0;
    for (size_t i = steps.size(); i-- > 0;) {
      Step& step = steps[i];
      for (size_t block : {step.a, step.b, step.out}) step.frees[block] = !is_read[block];
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
  ASSERT_EQ(softnpuGetFusedTasks(0, &after), ACL_SUCCESS);
  EXPECT_GT(after, before);
}

}  // namespace
