// Operators whose input another process changes while they run: an error or a result of one of both states, never an
// access outside of their tensors.

#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_embedding_dense_backward.h"
#include "aclnnop/aclnn_masked_select.h"
#include "aclnnop/aclnn_repeat_interleave.h"
#include "sharing/sharing_fixture.h"

namespace sharing {
namespace {

constexpr int64_t kCount = 20000;
constexpr int64_t kGood = 1;
constexpr int64_t kBad = int64_t{1} << 40;
constexpr int kEnough = 20;  // runs that saw each state

class ReadOnceTest : public SharingTest {
 protected:
  void SetUp() override {
    SharingTest::SetUp();
    input_ = allocate(0);
    for (void** memory : {&values_, &output_, &workspace_}) *memory = allocate(1);
  }
  void TearDown() override {
    for (aclTensor* tensor : tensors_) EXPECT_EQ(aclDestroyTensor(tensor), ACLNN_SUCCESS);
    SharingTest::TearDown();
  }

  aclTensor* tensor(void* memory, aclDataType dtype, const std::vector<int64_t>& sizes) {
    std::vector<int64_t> strides(sizes.size(), 1);
    for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
    tensors_.push_back(aclCreateTensor(sizes.data(), sizes.size(), dtype, strides.data(), 0, ACL_FORMAT_ND,
                                       sizes.data(), sizes.size(), memory));
    return tensors_.back();
  }

  // Fills `input_` with `good`; another process changes the element at `location` to `bad` and back all the time. Runs
  // the operator until it often succeeded and often failed.
  template <typename Plan, typename Launch>
  void run(int64_t good, int64_t bad, int64_t location, const Plan& plan, const Launch& launch) {
    const std::vector<int64_t> all(kCount, good);
    const size_t bytes = all.size() * sizeof(int64_t);
    ASSERT_EQ(aclrtMemcpy(input_, kPage, all.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    OtherProcess other("changer");
    ASSERT_EQ(other.ask("import " + key_of(input_)), "ok");
    ASSERT_EQ(other.ask("change " + std::to_string(location) + " " + std::to_string(bad) + " " + std::to_string(good)),
              "ok");
    int good_runs = 0;
    int bad_runs = 0;
    while (good_runs < kEnough || bad_runs < kEnough) {
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      ASSERT_EQ(plan(&size, &executor), ACLNN_SUCCESS) << recent_error();
      ASSERT_LE(size, kPage);
      ASSERT_EQ(launch(workspace_, size, executor, nullptr), ACLNN_SUCCESS);
      ++(aclrtSynchronizeStream(nullptr) == ACL_SUCCESS ? good_runs : bad_runs);
    }
  }

  // Whether the bytes of `output_` from `begin` on are still as allocated.
  bool is_untouched(size_t begin) {
    std::vector<char> bytes(kPage - begin);
    EXPECT_EQ(aclrtMemcpy(bytes.data(), bytes.size(), static_cast<char*>(output_) + begin, bytes.size(),
                          ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    return bytes == std::vector<char>(bytes.size(), 1);
  }

  void* input_ = nullptr;
  void* values_ = nullptr;
  void* output_ = nullptr;
  void* workspace_ = nullptr;
  std::vector<aclTensor*> tensors_;
};

TEST_F(ReadOnceTest, RepeatInterleave) {
  aclTensor* values = tensor(values_, ACL_FLOAT, {kCount});
  aclTensor* repeats = tensor(input_, ACL_INT64, {kCount});
  aclTensor* out = tensor(output_, ACL_FLOAT, {kCount});
  run(
      kGood, kBad, true,
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnRepeatInterleaveGetWorkspaceSize(values, repeats, kCount, out, size, executor);
      },
      aclnnRepeatInterleave);
  EXPECT_TRUE(is_untouched(kCount * sizeof(float)));
}

TEST_F(ReadOnceTest, EmbeddingDenseBackward) {
  aclTensor* grad = tensor(values_, ACL_FLOAT, {kCount, 4});
  aclTensor* indices = tensor(input_, ACL_INT64, {kCount});
  aclTensor* out = tensor(output_, ACL_FLOAT, {2, 4});
  run(
      kGood, kBad, true,
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnEmbeddingDenseBackwardGetWorkspaceSize(grad, indices, 2, 5, false, out, size, executor);
      },
      aclnnEmbeddingDenseBackward);
  EXPECT_TRUE(is_untouched(8 * sizeof(float)));
}

// The mask's last 8 elements are none or all.
TEST_F(ReadOnceTest, MaskedSelect) {
  constexpr int64_t kElements = kCount * 8;
  constexpr int64_t kAll = 0x0101010101010101;
  aclTensor* values = tensor(values_, ACL_INT8, {kElements});
  aclTensor* mask = tensor(input_, ACL_BOOL, {kElements});
  aclTensor* out = tensor(output_, ACL_INT8, {kElements - 8});
  fill(values_, 3);
  run(
      kAll, 0, true,
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnMaskedSelectGetWorkspaceSize(values, mask, out, size, executor);
      },
      aclnnMaskedSelect);
  EXPECT_TRUE(is_untouched(kElements - 8));
}

}  // namespace
}  // namespace sharing
