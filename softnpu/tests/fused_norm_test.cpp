// A batch norm is fused with the sum and the activation after it; the bytes are those of unfused operators.

#include <array>
#include <random>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_batch_norm.h"
#include "aclnnop/aclnn_inplace_add.h"
#include "aclnnop/aclnn_inplace_relu.h"
#include "blocking_task.h"
#include "softnpu/memory_events.h"
#include "softnpu/softnpu.h"

namespace {

constexpr std::array<int64_t, 4> kSizes = {6, 64, 31, 37};
constexpr int64_t kChannels = kSizes[1];
constexpr int64_t kCount = kSizes[0] * kSizes[1] * kSizes[2] * kSizes[3];

// Images and values of channels in device memory.
class Tensors {
 public:
  enum Name : size_t { kX, kOther, kY, kWeight, kBias, kMean, kVariance, kSavedMean, kSavedSpread, kNames };

  explicit Tensors(bool channels_last) {
    const std::array<int64_t, 4> strides =
        channels_last ? std::array<int64_t, 4>{kCount / kSizes[0], 1, kSizes[3] * kChannels, kChannels}
                      : std::array<int64_t, 4>{kCount / kSizes[0], kSizes[2] * kSizes[3], kSizes[3], 1};
    std::mt19937 random(11);
    std::uniform_real_distribution<float> uniform(0.25F, 2);
    for (size_t i = 0; i < kNames; ++i) {
      const bool is_image = i < kWeight;
      start_[i].resize(static_cast<size_t>(is_image ? kCount : kChannels));
      for (float& value : start_[i]) value = uniform(random) * (is_image && random() % 2 == 0 ? -1.0F : 1.0F);
      EXPECT_EQ(aclrtMalloc(&memory_[i], bytes(i), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      const int64_t one = 1;
      all_[i] = aclCreateTensor(is_image ? kSizes.data() : &kChannels, is_image ? 4 : 1, ACL_FLOAT,
                                is_image ? strides.data() : &one, 0, is_image ? ACL_FORMAT_NCHW : ACL_FORMAT_ND,
                                is_image ? kSizes.data() : &kChannels, is_image ? 4 : 1, memory_[i]);
    }
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;
  ~Tensors() {
    for (size_t i = 0; i < kNames; ++i) {
      aclDestroyTensor(all_[i]);
      aclrtFree(memory_[i]);
    }
  }

  aclTensor* operator[](Name name) const { return all_[name]; }
  uint64_t last_write(Name name) const { return softnpuLastWriteEpoch(memory_[name], bytes(name)); }

  void upload() {
    for (size_t i = 0; i < kNames; ++i)
      ASSERT_EQ(aclrtMemcpy(memory_[i], bytes(i), start_[i].data(), bytes(i), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }
  std::vector<std::vector<float>> download() const {
    std::vector<std::vector<float>> found;
    for (size_t i = 0; i < kNames; ++i) {
      found.emplace_back(start_[i].size());
      EXPECT_EQ(aclrtMemcpy(found[i].data(), bytes(i), memory_[i], bytes(i), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    }
    return found;
  }

 private:
  size_t bytes(size_t i) const { return start_[i].size() * sizeof(float); }

  std::array<std::vector<float>, kNames> start_;
  std::array<void*, kNames> memory_{};
  std::array<aclTensor*, kNames> all_{};
};

struct Row {
  bool training;
  bool channels_last;
};

class FusedNormTest : public AclTest, public testing::WithParamInterface<Row> {};

TEST_P(FusedNormTest, FusedResultIsBitwiseEqualToUnfused) {
  Tensors t(GetParam().channels_last);
  const bool training = GetParam().training;
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  float one = 1;
  aclScalar* scalar = aclCreateScalar(&one, ACL_FLOAT);
  const auto chain = [&](bool waits) {
    const auto wait = [&] {
      if (waits) {
        ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
      }
    };
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnBatchNormGetWorkspaceSize(t[Tensors::kX], t[Tensors::kWeight], t[Tensors::kBias], t[Tensors::kMean],
                                             t[Tensors::kVariance], training, 0.1, 1e-5, t[Tensors::kY],
                                             training ? t[Tensors::kSavedMean] : nullptr,
                                             training ? t[Tensors::kSavedSpread] : nullptr, &bytes, &executor),
              ACL_SUCCESS);
    ASSERT_EQ(bytes, 0U);
    ASSERT_EQ(aclnnBatchNorm(nullptr, 0, executor, stream), ACL_SUCCESS);
    wait();
    ASSERT_EQ(aclnnInplaceAddGetWorkspaceSize(t[Tensors::kY], t[Tensors::kOther], scalar, &bytes, &executor),
              ACL_SUCCESS);
    ASSERT_EQ(aclnnInplaceAdd(nullptr, 0, executor, stream), ACL_SUCCESS);
    wait();
    ASSERT_EQ(aclnnInplaceReluGetWorkspaceSize(t[Tensors::kY], &bytes, &executor), ACL_SUCCESS);
    ASSERT_EQ(aclnnInplaceRelu(nullptr, 0, executor, stream), ACL_SUCCESS);
  };
  t.upload();
  chain(true);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  const auto expected = t.download();
  uint64_t before = 0;
  uint64_t after = 0;
  ASSERT_EQ(softnpuGetFusedTasks(0, &before), ACL_SUCCESS);
  t.upload();
  const uint64_t uploaded = t.last_write(Tensors::kMean);
  BlockingTask blocking;
  ASSERT_EQ(blocking.launch(stream), ACL_SUCCESS);
  chain(false);
  EXPECT_EQ(t.last_write(Tensors::kMean) > uploaded, training) << "evaluation only reads the running statistics";
  blocking.release();
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(t.download(), expected);
  ASSERT_EQ(softnpuGetFusedTasks(0, &after), ACL_SUCCESS);
  EXPECT_EQ(after - before, 2U);
  aclDestroyScalar(scalar);
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(All, FusedNormTest,
                         testing::Values(Row{false, false}, Row{false, true}, Row{true, false}, Row{true, true}));

}  // namespace
