#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_inplace_bernoulli.h"
#include "instruction_sets.h"
#include "ops/math/random/philox.h"

namespace {

using softnpu::philox;
using softnpu::PhiloxBlock;
using softnpu::PhiloxSequence;

// The known answers published with the generator's definition.
TEST(PhiloxTest, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PhiloxTest, EveryInstructionSetGivesTheDefinitionsNumbers) {
  const PhiloxSequence sequence{.seed = 0x123456789abcdef0, .offset = 0xfedcba9876543210};
  const uint64_t last32 = 0xffffffff;
  for_each_instruction_set([&] {
    for (const uint64_t first : {uint64_t{0}, last32 - 5, uint64_t{1} << 40}) {
      for (const uint64_t blocks : {1, 2, 7, 8, 37}) {
        std::vector<uint32_t> numbers(blocks * 4 + 1, 99);
        sequence.fill(first, blocks, numbers.data());
        for (uint64_t i = 0; i < blocks * 4; ++i) ASSERT_EQ(numbers[i], sequence.block(first + i / 4)[i % 4]) << i;
        ASSERT_EQ(numbers.back(), 99);
      }
    }
  });
}

class BernoulliTest : public AclTest {
 protected:
  // The bytes of `count` numbers, drawn into device memory.
  std::vector<uint8_t> draw(int64_t count, double probability, int64_t seed, int64_t offset) {
    void* device = nullptr;
    EXPECT_EQ(aclrtMalloc(&device, static_cast<size_t>(count), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(run(device, count, ACL_BOOL, probability, seed, offset), ACLNN_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    std::vector<uint8_t> host(static_cast<size_t>(count));
    EXPECT_EQ(aclrtMemcpy(host.data(), host.size(), device, host.size(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
    return host;
  }

  static aclnnStatus run(void* device, int64_t count, aclDataType dtype, double probability, int64_t seed,
                         int64_t offset, int64_t stride = 1) {
    aclTensor* self = aclCreateTensor(&count, 1, dtype, &stride, 0, ACL_FORMAT_ND, &count, 1, device);
    aclScalar* prob = aclCreateScalar(&probability, ACL_DOUBLE);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    aclnnStatus status = aclnnInplaceBernoulliGetWorkspaceSize(self, prob, seed, offset, &bytes, &executor);
    if (status == ACLNN_SUCCESS) status = aclnnInplaceBernoulli(nullptr, 0, executor, nullptr);
    aclDestroyScalar(prob);
    aclDestroyTensor(self);
    return status;
  }
};

TEST_F(BernoulliTest, FollowsItsSeedAndOffset) {
  // The large one is divided among threads, and begins like the small one.
  const auto small = draw(1001, 0.3, 7, 12);
  const auto large = draw(1 << 18, 0.3, 7, 12);
  EXPECT_TRUE(std::equal(small.begin(), small.end(), large.begin()));
  EXPECT_EQ(draw(1001, 0.3, 7, 12), small);
  EXPECT_NE(draw(1001, 0.3, 8, 12), small);
  EXPECT_NE(draw(1001, 0.3, 7, 16), small);
}

TEST_F(BernoulliTest, IsOneWhereTheNumberIsBelowTheProbability) {
  const PhiloxSequence sequence{.seed = 7, .offset = 12};
  for_each_instruction_set([&] {
    for (const int64_t count : {1, 15, 1001, 5000}) {
      const auto drawn = draw(count, 0.25, 7, 12);
      for (size_t i = 0; i < drawn.size(); ++i) {
        ASSERT_EQ(drawn[i], sequence.block(i / 4)[i % 4] < (1u << 30) ? 1 : 0) << i << " of " << count;
      }
    }
  });
}

TEST_F(BernoulliTest, FloatsEqualTheBytes) {
  constexpr int64_t kCount = 1001;
  const auto bytes = draw(kCount, 0.6, 1, 0);
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, kCount * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(run(device, kCount, ACL_FLOAT, 0.6, 1, 0), ACLNN_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  const auto floats = download<std::array<float, kCount>>(device);
  EXPECT_TRUE(std::ranges::equal(floats, bytes));
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST_F(BernoulliTest, FrequencyMatchesTheProbability) {
  constexpr int64_t kCount = 1 << 20;
  for (double p : {0.01, 0.25, 0.5, 0.9}) {
    const auto drawn = draw(kCount, p, 3, 0);
    double ones = 0;
    for (uint8_t value : drawn) {
      ASSERT_LE(value, 1);
      ones += value;
    }
    // Six standard deviations.
    EXPECT_NEAR(ones / kCount, p, 6 * std::sqrt(p * (1 - p) / kCount));
  }
  EXPECT_EQ(draw(100, 0, 1, 0), std::vector<uint8_t>(100, 0));
  EXPECT_EQ(draw(100, 1, 1, 0), std::vector<uint8_t>(100, 1));
}

TEST_F(BernoulliTest, BadArgumentsAreStatusesNotCrashes) {
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 1024, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(run(device, 256, ACL_FLOAT, 0.5, 1, 0), ACLNN_SUCCESS);
  EXPECT_EQ(run(device, 257, ACL_FLOAT, 0.5, 1, 0), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("device memory"), std::string::npos);
  EXPECT_EQ(run(device, 10, ACL_FLOAT, 1.5, 1, 0), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(recent_error().find("not between 0 and 1"), std::string::npos);
  EXPECT_EQ(run(device, 10, ACL_FLOAT, std::nan(""), 1, 0), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(run(device, 10, ACL_COMPLEX64, 0.5, 1, 0), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(run(device, 10, ACL_FLOAT, 0.5, 1, 0, 2), ACLNN_SUCCESS);
  EXPECT_EQ(run(nullptr, 0, ACL_FLOAT, 0.5, 1, 0), ACLNN_SUCCESS);
  float host[4] = {};
  EXPECT_EQ(run(host, 4, ACL_FLOAT, 0.5, 1, 0), ACLNN_ERR_PARAM_INVALID);
}

}  // namespace
