// Elementwise operators on views of every kind, against an element-by-element reference. Values are small integers, so
// that every order of operations gives the same result.

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "acl_fixture.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_addcmul.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_neg.h"

namespace {

constexpr size_t kMaxElements = 2'000'000;  // per buffer
constexpr int64_t kMaxResults = 40'000;

using Sizes = std::vector<int64_t>;

struct Layout {
  Sizes sizes;
  Sizes strides;  // in elements
  int64_t offset = 0;

  int64_t extent() const {  // elements from the buffer's start to the view's end
    int64_t last = offset;
    for (size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
    return last + 1;
  }
  // The offset of the element `index` of a shape to which this one is broadcast.
  int64_t at(const Sizes& index) const {
    int64_t location = offset;
    const size_t missing = index.size() - sizes.size();
    for (size_t i = 0; i < sizes.size(); ++i) location += sizes[i] == 1 ? 0 : index[missing + i] * strides[i];
    return location;
  }
};

float to_float(aclDataType dtype, const char* at) {
  if (dtype == ACL_FLOAT) return *reinterpret_cast<const float*>(at);
  if (dtype == ACL_INT32) return static_cast<float>(*reinterpret_cast<const int32_t*>(at));
  const uint32_t bits = static_cast<uint32_t>(*reinterpret_cast<const uint16_t*>(at)) << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void from_float(aclDataType dtype, float value, char* at) {
  if (dtype == ACL_FLOAT) {
    std::memcpy(at, &value, sizeof value);
  } else if (dtype == ACL_INT32) {
    const auto whole = static_cast<int32_t>(value);
    std::memcpy(at, &whole, sizeof whole);
  } else {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    const auto high = static_cast<uint16_t>(bits >> 16);  // integers below 256: exact
    std::memcpy(at, &high, sizeof high);
  }
}

// Device memory, its contents, and a view of it.
struct Operand {
  void* device = nullptr;
  std::vector<char> host;
  aclDataType dtype = ACL_FLOAT;
  Layout layout;

  size_t size() const { return aclDataTypeSize(dtype); }
  char* at(const Sizes& index) { return host.data() + static_cast<size_t>(layout.at(index)) * size(); }
  aclTensor* tensor() const {
    const auto& [sizes, strides, offset] = layout;
    const int64_t extent = layout.extent();
    return aclCreateTensor(sizes.data(), sizes.size(), dtype, strides.data(), offset, ACL_FORMAT_ND, &extent, 1,
                           device);
  }
};

class MappedViewsTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    for (Operand& operand : operands_) {
      ASSERT_EQ(aclrtMalloc(&operand.device, kMaxElements * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    }
  }
  void TearDown() override {
    for (Operand& operand : operands_) aclrtFree(operand.device);
    AclTest::TearDown();
  }

  int64_t draw(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  bool flip() { return draw(0, 1) == 1; }

  Sizes draw_shape() {
    static constexpr int64_t kSizes[] = {1, 2, 3, 5, 31, 32, 33, 64, 100, 128, 511, 512, 513, 1500};
    Sizes sizes;
    int64_t count = 1;
    for (int64_t rank = draw(1, 4); rank > 0; --rank) {
      int64_t size = kSizes[draw(0, std::size(kSizes) - 1)];
      if (count * size > kMaxResults) size = 2;
      sizes.push_back(size);
      count *= size;
    }
    std::ranges::shuffle(sizes, random_);
    return sizes;
  }

  // Contiguous dimensions in a random memory order, with occasional gaps.
  Layout draw_dense(const Sizes& sizes) {
    std::vector<size_t> order(sizes.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (draw(0, 3) == 0) std::ranges::shuffle(order, random_);
    Layout layout{sizes, Sizes(sizes.size()), draw(0, 3)};
    int64_t stride = draw(0, 5) == 0 ? 2 : 1;
    for (size_t i = order.size(); i-- > 0;) {
      layout.strides[order[i]] = stride;
      stride *= sizes[order[i]] + (draw(0, 4) == 0 ? draw(1, 3) : 0);
    }
    return layout;
  }

  // A valid input for a result of `sizes`: broadcast from fewer or smaller dimensions, or expanded.
  Layout draw_input(const Sizes& sizes) {
    Sizes own = sizes;
    if (draw(0, 3) == 0) own.erase(own.begin(), own.begin() + draw(0, static_cast<int64_t>(own.size())));
    const bool is_broadcast = flip();
    for (int64_t& size : own) {
      if (is_broadcast && flip()) size = 1;
    }
    Layout layout = draw_dense(own);
    for (size_t i = 0; i < own.size(); ++i) {
      if (draw(0, 7) == 0) layout.strides[i] = draw(0, 1);  // expanded, or overlapping windows
    }
    return layout;
  }

  void fill(Operand* operand) {
    operand->host.resize(static_cast<size_t>(operand->layout.extent() + 3) * operand->size());
    ASSERT_LE(operand->host.size(), kMaxElements * sizeof(float));
    for (size_t i = 0; i < operand->host.size(); i += operand->size()) {
      from_float(operand->dtype, static_cast<float>(draw(-5, 5)), operand->host.data() + i);
    }
    upload_bytes(*operand);
  }
  static void upload_bytes(const Operand& operand) {
    const size_t bytes = operand.host.size();
    ASSERT_EQ(aclrtMemcpy(operand.device, bytes, operand.host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  }
  static std::vector<char> download_bytes(const Operand& operand) {
    std::vector<char> found(operand.host.size());
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(found.data(), found.size(), operand.device, found.size(), ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    return found;
  }

  // -a, a * b or a + b * c, by the number of inputs.
  static void run(const std::vector<Operand*>& all) {
    std::vector<aclTensor*> t;
    t.reserve(all.size());
    for (const Operand* operand : all) t.push_back(operand->tensor());
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    if (all.size() == 2) {
      ASSERT_EQ(aclnnNegGetWorkspaceSize(t[1], t[0], &bytes, &executor), ACLNN_SUCCESS) << recent_error();
      ASSERT_EQ(aclnnNeg(nullptr, 0, executor, nullptr), ACLNN_SUCCESS);
    } else if (all.size() == 3) {
      ASSERT_EQ(aclnnMulGetWorkspaceSize(t[1], t[2], t[0], &bytes, &executor), ACLNN_SUCCESS) << recent_error();
      ASSERT_EQ(aclnnMul(nullptr, 0, executor, nullptr), ACLNN_SUCCESS);
    } else {
      float one = 1;
      aclScalar* scalar = aclCreateScalar(&one, ACL_FLOAT);
      ASSERT_EQ(aclnnAddcmulGetWorkspaceSize(t[1], t[2], t[3], scalar, t[0], &bytes, &executor), ACLNN_SUCCESS)
          << recent_error();
      ASSERT_EQ(aclnnAddcmul(nullptr, 0, executor, nullptr), ACLNN_SUCCESS);
      aclDestroyScalar(scalar);
    }
    for (aclTensor* tensor : t) aclDestroyTensor(tensor);
  }

  static void compute(const std::vector<Operand*>& all) {
    Operand& out = *all[0];
    const Sizes& sizes = out.layout.sizes;
    Sizes index(sizes.size());
    for (;;) {
      std::array<float, 4> v{};
      for (size_t k = 1; k < all.size(); ++k) v[k] = to_float(all[k]->dtype, all[k]->at(index));
      const float result = all.size() == 2 ? -v[1] : all.size() == 3 ? v[1] * v[2] : v[1] + v[2] * v[3];
      from_float(out.dtype, result, out.at(index));
      size_t d = sizes.size();
      while (d-- > 0 && ++index[d] == sizes[d]) index[d] = 0;
      if (d == static_cast<size_t>(-1)) return;
    }
  }

  static std::string message(const std::vector<Operand*>& all) {
    std::ostringstream words;
    for (const Operand* operand : all) {
      const auto& [sizes, strides, offset] = operand->layout;
      words << operand->dtype << ':';
      for (size_t i = 0; i < sizes.size(); ++i) words << ' ' << sizes[i] << '@' << strides[i];
      words << "; ";
    }
    return words.str();
  }

  std::mt19937 random_{1};
  std::array<Operand, 4> operands_;
};

// Bytes that are not the result's must not change either.
TEST_F(MappedViewsTest, RandomViewsMatchTheReference) {
  static constexpr aclDataType kDtypes[] = {ACL_FLOAT, ACL_FLOAT, ACL_FLOAT, ACL_INT32, ACL_BF16};
  for (int round = 0; round < 600; ++round) {
    const Sizes sizes = draw_shape();
    const auto inputs = static_cast<size_t>(draw(1, 3));
    const bool in_place = draw(0, 3) == 0;
    const bool is_mixed = draw(0, 4) == 0;
    const aclDataType dtype = kDtypes[draw(0, std::size(kDtypes) - 1)];
    std::vector<Operand*> all{operands_.data()};
    Operand& out = operands_[0];
    out.dtype = dtype;
    out.layout = draw_dense(sizes);
    fill(&out);
    for (size_t k = 1; k <= inputs; ++k) {
      if (in_place && k == 1) {
        all.push_back(&out);
        continue;
      }
      Operand& input = operands_[k];
      // Values computed in float32 are converted to 16 bits and back; integers remain exact.
      input.dtype = is_mixed && dtype != ACL_INT32 ? (flip() ? ACL_FLOAT : ACL_BF16) : dtype;
      input.layout = draw_input(sizes);
      fill(&input);
      all.push_back(&input);
    }
    // The inputs alone need not determine the result's shape, which may be larger than theirs.
    Sizes seen(sizes.size(), 1);
    for (size_t k = 1; k < all.size(); ++k) {
      const Sizes& own = all[k]->layout.sizes;
      for (size_t i = 0; i < own.size(); ++i) {
        int64_t& size = seen[sizes.size() - own.size() + i];
        size = std::max(size, own[i]);
      }
    }
    if (seen != sizes) {
      Operand& whole = *all.back();
      if (&whole == &out) continue;
      whole.layout = draw_dense(sizes);
      fill(&whole);
    }
    run(all);
    if (HasFatalFailure()) FAIL() << message(all);
    compute(all);
    ASSERT_EQ(download_bytes(out), out.host) << message(all);
  }
}

// The same with enough elements for several threads, whose pieces begin within runs.
TEST_F(MappedViewsTest, LargeViewsMatchTheReferenceOnSeveralThreads) {
  const Sizes sizes{3, 333, 3, 100};
  for (const Sizes& strides : {Sizes{0, 100, 0, 1}, Sizes{0, 1, 0, 0}, Sizes{0, 0, 0, 1}, Sizes{0, 0, 1, 0}}) {
    Operand& out = operands_[0];
    out.layout = {sizes, {99'900, 300, 100, 1}, 0};
    operands_[1].layout = out.layout;
    operands_[2].layout = {sizes, strides, 0};
    const std::vector<Operand*> all{&out, &operands_[1], &operands_[2]};
    for (Operand* operand : all) fill(operand);
    run(all);
    compute(all);
    ASSERT_EQ(download_bytes(out), out.host) << message(all);
  }
}

// x *= x[:, :1], and x *= x[:1]: within a tile every value is read before any is written.
TEST_F(MappedViewsTest, OverlappingInputIsReadBeforeItIsOverwritten) {
  for (const Sizes& strides : {Sizes{64, 0}, Sizes{0, 1}}) {
    Operand& out = operands_[0];
    out.layout = {{8, 64}, {64, 1}, 0};
    fill(&out);
    Operand before = out;
    Operand factor = out;
    factor.layout.strides = strides;
    run({&out, &out, &factor});
    compute({&out, &before, &factor});
    ASSERT_EQ(download_bytes(out), out.host);
  }
}

}  // namespace
