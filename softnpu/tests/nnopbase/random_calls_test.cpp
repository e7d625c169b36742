// Random calls of aclnn's object functions, with live, dead, null and foreign handles: none crashes, none fails without
// a message, and live objects are exactly those created and not destroyed. A test's number is its seed.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_masked_scale.h"
#include "nnopbase/arrays.h"
#include "sanitizers.h"
#include "softnpu/tensor.h"

namespace {

class RandomCallsTest : public AclTest, public ::testing::WithParamInterface<unsigned> {
 protected:
  using Handles = std::vector<void*>;

  uint32_t number(uint32_t below) { return random_() % below; }
  bool once_in(uint32_t times) { return number(times) == 0; }

  // Usually a live one; otherwise dead, null, of another kind, or never created.
  void* draw(const Handles& live) {
    const auto any = [&](const Handles& from) { return from.empty() ? nullptr : from[number(from.size())]; };
    switch (number(10)) {
      case 0: return any(dead_);
      case 1: return once_in(2) ? nullptr : &foreign_;
      case 2: return any(once_in(2) ? scalars_ : tensors_);
      default: return any(live);
    }
  }

  template <typename T>
  T* draw_as(const Handles& live) {
    return static_cast<T*>(draw(live));
  }

  void created(Handles* live, void* handle) {
    if (handle == nullptr) return expect_message();
    ASSERT_TRUE(std::ranges::find(*live, handle) == live->end()) << handle << " lives twice";
    std::erase(dead_, handle);
    live->push_back(handle);
  }

  // Checks `status` of a call that ends `handle`: success exactly if the handle is null or live.
  void ended(Handles* live, const void* handle, aclnnStatus status) {
    auto location = std::ranges::find(*live, handle);
    ASSERT_EQ(status == ACLNN_SUCCESS, handle == nullptr || location != live->end()) << handle;
    if (status != ACLNN_SUCCESS) return expect_message();
    if (handle == nullptr) return;
    died(live, location);
  }

  // Lists skip an element that was destroyed before them.
  void died(Handles* live, Handles::iterator location) {
    for (auto& [list, elements] : elements_) std::erase(elements, *location);
    dead_.push_back(*location);
    live->erase(location);
  }

  void expect(aclnnStatus status) {
    if (status != ACLNN_SUCCESS) expect_message();
  }

  static void expect_message() { ASSERT_NE(aclGetRecentErrMsg(), nullptr); }

  // Sizes and strides; usually small.
  const int64_t* dims() {
    for (int64_t& size : numbers_) {
      size = once_in(50) ? static_cast<int64_t>(random_()) - (int64_t{1} << 31) : number(5);
    }
    return once_in(20) ? nullptr : numbers_.data();
  }
  uint64_t rank() { return once_in(20) ? random_() : number(once_in(5) ? 64 : 4); }
  aclDataType dtype() { return static_cast<aclDataType>(once_in(2) ? 0 : number(40)); }

  // One of three, each float32[16] on the device: valid operands.
  aclTensor* plain() {
    const int64_t size = 16;
    return aclCreateTensor(&size, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &size, 1, block_);
  }

  void call_tensors() {
    switch (number(4)) {
      case 0:
        return created(&tensors_, aclCreateTensor(dims(), rank(), dtype(), once_in(2) ? nullptr : numbers_.data(),
                                                  number(3), ACL_FORMAT_ND, numbers_.data(), number(3), &foreign_));
      case 1: return created(&tensors_, plain());
      case 2: {
        auto* tensor = draw_as<aclTensor>(tensors_);
        return expect(softnpuInitTensor(tensor, dims(), rank(), dtype(), nullptr, 0, ACL_FORMAT_ND, numbers_.data(),
                                        number(3), block_));
      }
      default: {
        auto* tensor = draw_as<aclTensor>(tensors_);
        return ended(&tensors_, tensor, aclDestroyTensor(tensor));
      }
    }
  }

  void call_getters() {
    const auto* tensor = draw_as<aclTensor>(tensors_);
    int64_t* values = nullptr;
    uint64_t count = 0;
    expect(aclGetViewShape(tensor, once_in(8) ? nullptr : &values, once_in(8) ? nullptr : &count));
    const std::unique_ptr<int64_t[]> owned(values);
  }

  void call_others() {
    switch (number(6)) {
      case 0: return created(&scalars_, aclCreateScalar(once_in(8) ? nullptr : numbers_.data(), dtype()));
      case 1: {
        auto* scalar = draw_as<aclScalar>(scalars_);
        return ended(&scalars_, scalar, aclDestroyScalar(scalar));
      }
      case 2: return created(&arrays_, aclCreateIntArray(once_in(8) ? nullptr : numbers_.data(), number(64)));
      case 3: {
        auto* array = draw_as<aclIntArray>(arrays_);
        return ended(&arrays_, array, aclDestroyIntArray(array));
      }
      case 4: {
        std::array<const aclTensor*, 3> elements{};
        for (const aclTensor*& element : elements) element = draw_as<aclTensor>(tensors_);
        aclTensorList* list = aclCreateTensorList(elements.data(), number(4));
        created(&lists_, list);
        if (list != nullptr) {
          elements_[list].assign(elements.begin(), elements.begin() + static_cast<int64_t>(list->size()));
        }
        return;
      }
      default: {
        auto* list = draw_as<aclTensorList>(lists_);
        const bool lives = std::ranges::find(lists_, list) != lists_.end();
        ended(&lists_, list, aclDestroyTensorList(list));
        if (!lives) return;
        for (const std::vector<const void*> elements = elements_[list]; const void* element : elements) {
          auto location = std::ranges::find(tensors_, element);
          if (location != tensors_.end()) died(&tensors_, location);
        }
        elements_.erase(list);
        return;
      }
    }
  }

  void call_executors() {
    auto* executor = draw_as<aclOpExecutor>(executors_);
    switch (number(6)) {
      case 0:
      case 1: {
        uint64_t bytes = 0;
        aclOpExecutor* planned = nullptr;
        const aclnnStatus status =
            aclnnMaskedScaleGetWorkspaceSize(draw_as<aclTensor>(tensors_), draw_as<aclTensor>(tensors_), 2,
                                             draw_as<aclTensor>(tensors_), &bytes, &planned);
        return status == ACLNN_SUCCESS ? created(&executors_, planned) : expect_message();
      }
      case 2: {
        const aclnnStatus status = aclnnMaskedScale(nullptr, 0, executor, nullptr);
        const bool is_repeatable = std::ranges::find(repeatable_, executor) != repeatable_.end();
        if (status != ACLNN_SUCCESS) return expect_message();
        return is_repeatable ? void() : ended(&executors_, executor, status);
      }
      case 3:
        if (aclSetAclOpExecutorRepeatable(executor) != ACLNN_SUCCESS) return expect_message();
        return repeatable_.push_back(executor);
      case 4:
        return expect(
            aclSetTensorAddr(executor, number(3), draw_as<aclTensor>(tensors_), once_in(8) ? &foreign_ : block_));
      default: return ended(&executors_, executor, aclDestroyAclOpExecutor(executor));
    }
  }

  std::mt19937 random_{GetParam()};
  std::array<int64_t, 64> numbers_{};
  std::array<int64_t, 64> foreign_{};
  void* block_ = nullptr;
  Handles tensors_;
  Handles scalars_;
  Handles arrays_;
  Handles lists_;
  Handles executors_;
  Handles repeatable_;
  Handles dead_;
  std::map<const void*, std::vector<const void*>> elements_;
};

TEST_P(RandomCallsTest, NeitherCrashNorFailWithoutAMessage) {
  ASSERT_EQ(aclrtMalloc(&block_, 16 * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  for (int i = 0; i < by_build(20'000, 3'000) && !HasFatalFailure(); ++i) {
    switch (number(4)) {
      case 0: call_tensors(); break;
      case 1: call_getters(); break;
      case 2: call_others(); break;
      default: call_executors(); break;
    }
    if (i % 1000 == 0) (void)aclrtSynchronizeStream(nullptr);
  }
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  for (void* list : lists_) EXPECT_EQ(aclDestroyTensorList(static_cast<aclTensorList*>(list)), ACLNN_SUCCESS);
  for (void* tensor : tensors_) (void)aclDestroyTensor(static_cast<aclTensor*>(tensor));  // lists have taken some
  for (void* scalar : scalars_) EXPECT_EQ(aclDestroyScalar(static_cast<aclScalar*>(scalar)), ACLNN_SUCCESS);
  for (void* array : arrays_) EXPECT_EQ(aclDestroyIntArray(static_cast<aclIntArray*>(array)), ACLNN_SUCCESS);
  for (void* left : executors_) EXPECT_EQ(aclDestroyAclOpExecutor(static_cast<aclOpExecutor*>(left)), ACLNN_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomCallsTest, ::testing::Range(0u, 8u));

}  // namespace
