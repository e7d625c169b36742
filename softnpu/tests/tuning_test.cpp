// Automatic tuning: planted slow candidates are avoided, a shape keeps its implementation, and a fixed rule holds where
// nothing may be timed.

#include "softnpu/tuning.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_convolution.h"
#include "opgen/onednn_present.h"

namespace {

constexpr int8_t kAllowLess = 1;
constexpr int64_t kChannels = 64;
// Far more than a run takes, however slow the machine: a run is less than a tenth of a billion operations.
constexpr uint64_t kDelay = 300'000;  // us

struct Found {
  std::string work;
  uint64_t uses = 0;
  std::string chosen;
  std::vector<double> times;
};

std::vector<Found> all_choices() {
  std::vector<Found> found;
  softnpuVisitTuned(
      [](const softnpuTunedWork* work, void* to) {
        Found one{work->work, work->uses, work->chosen < 0 ? "" : work->candidates[work->chosen].name, {}};
        for (size_t i = 0; i < work->count; ++i) one.times.push_back(work->candidates[i].microseconds);
        static_cast<std::vector<Found>*>(to)->push_back(one);
      },
      &found);
  return found;
}

// A 3 x 3 convolution of one image, which Winograd's algorithm and oneDNN may compute. Each test has its own width: a
// process times a shape once.
class Convolution {
 public:
  explicit Convolution(int64_t width) : sizes_{1, kChannels, 24, width} {
    image_ = filled(kChannels * 24 * width, 0.01F);
    filter_ = filled(kChannels * kChannels * 9, 0.1F);
    EXPECT_EQ(aclrtMalloc(&out_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  }
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;
  ~Convolution() {
    for (void* memory : {image_, filter_, out_}) aclrtFree(memory);
  }

  // The result's bits.
  std::vector<float> run(int8_t cube_math_type = kAllowLess, aclrtStream stream = nullptr) const {
    const std::array<int64_t, 4> filter_sizes = {kChannels, kChannels, 3, 3};
    const std::array<int64_t, 2> one = {1, 1}, zero = {0, 0};
    aclTensor* image = tensor(sizes_, image_);
    aclTensor* filter = tensor(filter_sizes, filter_);
    aclTensor* out = tensor(sizes_, out_);
    aclIntArray* ones = aclCreateIntArray(one.data(), 2);
    aclIntArray* zeros = aclCreateIntArray(zero.data(), 2);
    uint64_t needed = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnConvolutionGetWorkspaceSize(image, filter, nullptr, ones, ones, ones, false, zeros, 1, out,
                                               cube_math_type, &needed, &executor),
              ACL_SUCCESS);
    void* workspace = nullptr;
    EXPECT_EQ(aclrtMalloc(&workspace, needed + 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclnnConvolution(workspace, needed, executor, stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    aclrtFree(workspace);
    for (aclTensor* t : {image, filter, out}) aclDestroyTensor(t);
    aclDestroyIntArray(ones);
    aclDestroyIntArray(zeros);
    std::vector<float> result(bytes() / sizeof(float));
    EXPECT_EQ(aclrtMemcpy(result.data(), bytes(), out_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return result;
  }

 private:
  size_t bytes() const { return static_cast<size_t>(kChannels * 24 * sizes_[3]) * sizeof(float); }
  static aclTensor* tensor(const std::array<int64_t, 4>& sizes, void* data) {
    return aclCreateTensor(sizes.data(), 4, ACL_FLOAT, nullptr, 0, ACL_FORMAT_NCHW, sizes.data(), 4, data);
  }
  static void* filled(int64_t count, float step) {
    std::vector<float> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 97) * step - 1;
    void* memory = nullptr;
    const size_t size = values.size() * sizeof(float);
    EXPECT_EQ(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(memory, size, values.data(), size, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    return memory;
  }

  const std::array<int64_t, 4> sizes_;
  void* image_ = nullptr;
  void* filter_ = nullptr;
  void* out_ = nullptr;
};

class TuningTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    if (softnpuTunes() == 0) GTEST_SKIP() << "SOFTNPU_TUNE=0";
    if (!SOFTNPU_HAS_ONEDNN) GTEST_SKIP() << "without oneDNN there is one candidate";
  }
  void TearDown() override {
    for (const char* name : {"Winograd", "oneDNN", "panels", "product"}) softnpuDelayCandidate(name, 0);
    AclTest::TearDown();
  }
};

TEST_F(TuningTest, AvoidsASlowCandidate) {
  const size_t before = all_choices().size();
  softnpuDelayCandidate("Winograd", kDelay);
  Convolution(25).run();
  softnpuDelayCandidate("Winograd", 0);
  softnpuDelayCandidate("oneDNN", kDelay);
  Convolution(26).run();
  const std::vector<Found> found = all_choices();
  ASSERT_EQ(found.size(), before + 2);
  EXPECT_EQ(found[before].chosen, "oneDNN") << found[before].work;
  EXPECT_GE(found[before].times[0], kDelay);
  EXPECT_LT(found[before].times[1], kDelay);
  EXPECT_EQ(found[before + 1].chosen, "Winograd") << found[before + 1].work;
  EXPECT_GE(found[before + 1].times[1], kDelay);
}

TEST_F(TuningTest, AShapeKeepsItsImplementation) {
  const Convolution work(27), same(27);
  softnpuDelayCandidate("Winograd", kDelay);
  const std::vector<float> first = work.run();
  softnpuDelayCandidate("Winograd", 0);
  softnpuDelayCandidate("oneDNN", kDelay);
  const size_t count = all_choices().size();
  for (const Convolution* one : {&work, &same, &work}) EXPECT_EQ(one->run(), first);
  const std::vector<Found> found = all_choices();
  ASSERT_EQ(found.size(), count);
  EXPECT_EQ(found.back().chosen, "oneDNN");
  EXPECT_EQ(found.back().uses, 4U);
}

// The result of the timed run is that of the chosen candidate, not of the last one that was timed.
TEST_F(TuningTest, TheFirstResultIsTheChosenCandidates) {
  const Convolution work(28);
  softnpuDelayCandidate("oneDNN", kDelay);
  const std::vector<float> first = work.run();
  EXPECT_EQ(all_choices().back().chosen, "Winograd");
  EXPECT_EQ(work.run(), first);
  EXPECT_NE(work.run(0), first);  // without the permission there is no Winograd
}

TEST_F(TuningTest, DeterministicOperatorsFollowTheFixedRule) {
  const Convolution work(29);
  softnpuDelayCandidate("Winograd", kDelay);
  const size_t before = all_choices().size();
  ASSERT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS);
  EXPECT_EQ(softnpuTunes(), 0);
  const std::vector<float> by_rule = work.run();
  EXPECT_EQ(all_choices().size(), before);
  ASSERT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0), ACL_SUCCESS);
  EXPECT_NE(work.run(), by_rule);
  EXPECT_EQ(all_choices().back().chosen, "oneDNN");
  ASSERT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS);
  EXPECT_EQ(work.run(), by_rule);
  ASSERT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0), ACL_SUCCESS);
}

TEST_F(TuningTest, SmallWorkIsNotTimed) {
  const size_t before = all_choices().size();
  Convolution(4).run();
  EXPECT_EQ(all_choices().size(), before);
}

TEST_F(TuningTest, ThreadsShareTheFirstUseOfAShape) {
  constexpr size_t kThreads = 4;
  softnpuDelayCandidate("Winograd", kDelay);
  const size_t before = all_choices().size();
  std::array<std::vector<float>, kThreads> results;
  std::vector<std::thread> threads;
  for (std::vector<float>& result : results) {
    threads.emplace_back([&result] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      aclrtStream stream = nullptr;
      ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
      result = Convolution(30).run(kAllowLess, stream);
      ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& result : results) EXPECT_EQ(result, results[0]);
  const std::vector<Found> found = all_choices();
  ASSERT_EQ(found.size(), before + 1);
  EXPECT_EQ(found.back().chosen, "oneDNN");
  EXPECT_EQ(found.back().uses, kThreads);
}

// Of one image both candidates pack the filter: Winograd's copy takes four times its memory.
TEST_F(TuningTest, PackedWeightsOfOtherCandidatesAreDropped) {
  if (softnpuKeepsPackedWeights() == 0) GTEST_SKIP() << "SOFTNPU_PACK=0";
  constexpr uint64_t kFilterBytes = kChannels * kChannels * 9 * sizeof(float);
  const Convolution work(31);
  softnpuDelayCandidate("Winograd", kDelay);
  for (int i = 0; i < 3; ++i) work.run();
  EXPECT_EQ(all_choices().back().chosen, "oneDNN");
  uint64_t bytes = 0;
  ASSERT_EQ(softnpuGetPackedBytes(0, &bytes), ACL_SUCCESS);
  EXPECT_GE(bytes, kFilterBytes);
  EXPECT_LT(bytes, 2 * kFilterBytes);
}

}  // namespace
