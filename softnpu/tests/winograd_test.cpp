// Convolutions that may have lower precision than float32: close to float64, without accesses outside of their tensors.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_convolution.h"
#include "aclnnop/aclnn_convolution_backward.h"
#include "opgen/onednn_present.h"

namespace {

constexpr int8_t kKeepPrecision = 0;
constexpr int8_t kAllowLess = 1;
// What the transforms of tiles of 6 x 6 values do to float32's rounding, as a part of the sum of magnitudes.
constexpr double kUnit = 0x1p-16;
constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kAround = 16;  // guard elements on each side

struct Case {
  int64_t batch, read, output, height, width, padding;
  bool channels_last;
};

// float32 in device memory, surrounded by NaN.
class Tensor {
 public:
  Tensor(std::array<int64_t, 4> sizes, bool channels_last, std::mt19937& random) : sizes_(sizes) {
    const auto [n, c, h, w] = sizes;
    strides_ =
        channels_last ? std::array<int64_t, 4>{h * w * c, 1, w * c, c} : std::array<int64_t, 4>{c * h * w, h * w, w, 1};
    host_.assign(static_cast<size_t>(n * c * h * w + 2 * kAround), kNone);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::generate(host_.begin() + kAround, host_.end() - kAround, [&] { return uniform(random); });
    EXPECT_EQ(aclrtMalloc(&device_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(device_, bytes(), host_.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    descriptor_ = aclCreateTensor(sizes_.data(), 4, ACL_FLOAT, strides_.data(), kAround, ACL_FORMAT_NCHW, sizes_.data(),
                                  4, device_);
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor() {
    aclDestroyTensor(descriptor_);
    aclrtFree(device_);
  }

  aclTensor* get() const { return descriptor_; }
  const std::array<int64_t, 4>& sizes() const { return sizes_; }
  // Of the downloaded elements.
  bool same_bits(const Tensor& other) const {
    return std::memcmp(host_.data() + kAround, other.host_.data() + kAround,
                       (host_.size() - 2 * kAround) * sizeof(float)) == 0;
  }
  size_t bytes() const { return host_.size() * sizeof(float); }
  double at(int64_t n, int64_t c, int64_t y, int64_t x) const {
    if (y < 0 || x < 0 || y >= sizes_[2] || x >= sizes_[3]) return 0;
    return host_[static_cast<size_t>(kAround + n * strides_[0] + c * strides_[1] + y * strides_[2] + x * strides_[3])];
  }
  void download() {
    EXPECT_EQ(aclrtMemcpy(host_.data(), bytes(), device_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  }
  bool is_alone() const {
    const auto is_none = [](float x) { return std::isnan(x); };
    return std::all_of(host_.begin(), host_.begin() + kAround, is_none) &&
           std::all_of(host_.end() - kAround, host_.end(), is_none);
  }

 private:
  std::array<int64_t, 4> sizes_;
  std::array<int64_t, 4> strides_;
  std::vector<float> host_;
  void* device_ = nullptr;
  aclTensor* descriptor_ = nullptr;
};

// The same number for both dimensions of an image.
class Pair {
 public:
  explicit Pair(int64_t value) {
    const std::array<int64_t, 2> values = {value, value};
    array_ = aclCreateIntArray(values.data(), values.size());
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() { aclDestroyIntArray(array_); }

  aclIntArray* get() const { return array_; }

 private:
  aclIntArray* array_ = nullptr;
};

class WinogradTest : public AclTest, public ::testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    ASSERT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS);  // Winograd serves, whatever its time
  }

  static void run(const Tensor& image, const Tensor& filter, const Tensor& result, int64_t padding,
                  bool transposed = false, int8_t cube_math_type = kAllowLess) {
    const Pair ones(1), zeros(0), pads(padding);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(
        aclnnConvolutionGetWorkspaceSize(image.get(), filter.get(), nullptr, ones.get(), pads.get(), ones.get(),
                                         transposed, zeros.get(), 1, result.get(), cube_math_type, &bytes, &executor),
        ACL_SUCCESS);
    void* workspace = nullptr;
    ASSERT_EQ(aclrtMalloc(&workspace, bytes + 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclnnConvolution(workspace, bytes, executor, nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    aclrtFree(workspace);
  }

  // tap(k, i, y, x): of output channel k and input channel i.
  template <typename Tap>
  static void expect_near(const Case& c, const Tensor& image, const Tensor& result, const Tap& tap) {
    const int64_t height = c.height + 2 * c.padding - 2, width = c.width + 2 * c.padding - 2;
    for (int64_t n = 0; n < c.batch; ++n) {
      for (int64_t k = 0; k < c.output; k += 7) {
        for (int64_t y = 0; y < height; ++y) {
          for (int64_t x = 0; x < width; ++x) {
            double sum = 0, magnitude = 0;
            for (int64_t i = 0; i < 9 * c.read; ++i) {
              const int64_t dy = i / 3 % 3, dx = i % 3;
              const double term = image.at(n, i / 9, y + dy - c.padding, x + dx - c.padding) * tap(k, i / 9, dy, dx);
              sum += term;
              magnitude += std::abs(term);
            }
            ASSERT_LE(std::abs(result.at(n, k, y, x) - sum), kUnit * magnitude)
                << "image " << n << ", channel " << k << ", row " << y << ", column " << x;
          }
        }
      }
    }
  }

  // Winograd's algorithm needs the permission to lose precision: another algorithm's roundings are others.
  static void expect_winograd(const Case& c, const Tensor& image, const Tensor& filter, const Tensor& result,
                              int64_t padding, bool transposed) {
    std::mt19937 random(6);
    Tensor exact(result.sizes(), c.channels_last, random);
    run(image, filter, exact, padding, transposed, kKeepPrecision);
    exact.download();
    EXPECT_EQ(exact.same_bits(result), !SOFTNPU_HAS_ONEDNN);
  }

  static void run_gradient(const Tensor& gradient, const Tensor& image, const Tensor& filter, const Tensor& result,
                           int64_t padding) {
    const Pair ones(1), zeros(0), pads(padding);
    const std::array<bool, 3> only_filter = {false, true, false};
    aclBoolArray* mask = aclCreateBoolArray(only_filter.data(), 3);
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnConvolutionBackwardGetWorkspaceSize(gradient.get(), image.get(), filter.get(), nullptr, ones.get(),
                                                       pads.get(), ones.get(), false, zeros.get(), 1, mask, kAllowLess,
                                                       nullptr, result.get(), nullptr, &bytes, &executor),
              ACL_SUCCESS);
    void* workspace = nullptr;
    ASSERT_EQ(aclrtMalloc(&workspace, bytes + 1, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclnnConvolutionBackward(workspace, bytes, executor, nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    aclrtFree(workspace);
    aclDestroyBoolArray(mask);
  }

  static void expect_near_gradient(const Case& c, const Tensor& gradient, const Tensor& image, const Tensor& result) {
    const int64_t height = c.height + 2 * c.padding - 2, width = c.width + 2 * c.padding - 2;
    for (int64_t i = 0; i < 9 * c.read * c.output; i += 61) {
      const int64_t k = i / 9 / c.read, channel = i / 9 % c.read, dy = i / 3 % 3, dx = i % 3;
      double sum = 0, magnitude = 0;
      for (int64_t at = 0; at < c.batch * height * width; ++at) {
        const int64_t n = at / width / height, y = at / width % height, x = at % width;
        const double term = image.at(n, channel, y + dy - c.padding, x + dx - c.padding) * gradient.at(n, k, y, x);
        sum += term;
        magnitude += std::abs(term);
      }
      ASSERT_LE(std::abs(result.at(k, channel, dy, dx) - sum), kUnit * magnitude)
          << "channels " << k << " and " << channel << ", row " << dy << ", column " << dx;
    }
  }
};

TEST_P(WinogradTest, GradientIsAccurateAndInBounds) {
  const Case& c = GetParam();
  std::mt19937 random(4);
  const Tensor image({c.batch, c.read, c.height, c.width}, c.channels_last, random);
  const Tensor filter({c.output, c.read, 3, 3}, c.channels_last, random);
  const Tensor gradient({c.batch, c.output, c.height + 2 * c.padding - 2, c.width + 2 * c.padding - 2}, c.channels_last,
                        random);
  Tensor result({c.output, c.read, 3, 3}, c.channels_last, random);
  run_gradient(gradient, image, filter, result, c.padding);
  result.download();
  expect_near_gradient(c, gradient, image, result);
  EXPECT_TRUE(result.is_alone());
}

// A transposed convolution reads the filter as the gradient of a convolution's input does.
TEST_P(WinogradTest, TransposedResultIsAccurateAndInBounds) {
  const Case& c = GetParam();
  std::mt19937 random(5);
  const int64_t padding = 2 - c.padding;
  const Tensor image({c.batch, c.read, c.height, c.width}, c.channels_last, random);
  const Tensor filter({c.read, c.output, 3, 3}, false, random);
  Tensor result({c.batch, c.output, c.height + 2 - 2 * padding, c.width + 2 - 2 * padding}, c.channels_last, random);
  run(image, filter, result, padding, true);
  result.download();
  expect_near(c, image, result,
              [&](int64_t k, int64_t i, int64_t y, int64_t x) { return filter.at(i, k, 2 - y, 2 - x); });
  EXPECT_TRUE(result.is_alone());
  expect_winograd(c, image, filter, result, padding, true);
}

TEST_P(WinogradTest, ResultIsAccurateAndInBounds) {
  const Case& c = GetParam();
  std::mt19937 random(3);
  const Tensor image({c.batch, c.read, c.height, c.width}, c.channels_last, random);
  const Tensor filter({c.output, c.read, 3, 3}, false, random);
  Tensor result({c.batch, c.output, c.height + 2 * c.padding - 2, c.width + 2 * c.padding - 2}, c.channels_last,
                random);
  for (int meeting = 0; meeting < 3; ++meeting) {  // the filter is packed from the second on
    run(image, filter, result, c.padding);
    result.download();
    expect_near(c, image, result, [&](int64_t k, int64_t i, int64_t y, int64_t x) { return filter.at(k, i, y, x); });
    EXPECT_TRUE(result.is_alone());
  }
  expect_winograd(c, image, filter, result, c.padding, false);
}

INSTANTIATE_TEST_SUITE_P(Sizes, WinogradTest,
                         ::testing::Values(Case{1, 32, 48, 18, 18, 0, false}, Case{1, 32, 48, 18, 18, 0, true},
                                           Case{3, 48, 32, 13, 11, 1, false}, Case{3, 48, 32, 13, 11, 1, true},
                                           Case{8, 32, 32, 7, 7, 1, false}, Case{2, 32, 32, 30, 9, 2, true},
                                           Case{1, 64, 64, 61, 5, 2, false}, Case{4, 352, 352, 7, 7, 1, false},
                                           Case{4, 352, 352, 7, 7, 1, true},  // the last channels use small tiles
                                           // Filters that each call transforms: blocks of 16, several runs.
                                           Case{2, 272, 272, 14, 13, 1, false}, Case{2, 272, 272, 14, 13, 1, true},
                                           Case{3, 512, 64, 20, 40, 1, false}, Case{3, 512, 64, 20, 40, 0, true}));

}  // namespace
