// Damaged models of ONNX and damaged compiled models end in an error with a message, or run. A test's number is its
// seed. SOFTNPU_GRAPH_MUTATIONS sets how many each test tries.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_mdl.h"
#include "acl/acl_op.h"
#include "graph/proto.h"
#include "nnopbase/operator_model.h"
#include "sanitizers.h"
#include "softnpu/graph.h"
#include "softnpu/softnpu.h"

namespace graph_tests {
namespace {

size_t mutations() {
  const char* words = std::getenv("SOFTNPU_GRAPH_MUTATIONS");
  return words == nullptr ? by_build(2'000, 300) : std::strtoull(words, nullptr, 10);
}

// FNV-1a of 64 bits over words: the checksum of a compiled model.
uint64_t hash_of(const char* bytes, size_t size) {
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t hash = 0xcbf29ce484222325 ^ size;
  size_t at = 0;
  for (; at + 8 <= size; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + at, 8);
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 32;
  }
  for (; at < size; ++at) hash = (hash ^ static_cast<uint8_t>(bytes[at])) * kPrime;
  return hash;
}

// The file with a checksum that fits what it has now.
void sign(std::string* file) {
  constexpr size_t kHeader = 256;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(hash_of(file->data() + kHeader, file->size() - kHeader)));
  std::memcpy(file->data() + 12, digits, 16);
}

std::string compiled(const std::string& onnx, aclError* code) {
  const softnpuModelFile source{onnx.data(), onnx.size()};
  softnpuModelFile result{};
  *code = softnpuCompileModel(&source, &result);
  if (*code != ACL_SUCCESS) return {};
  std::string file(static_cast<const char*>(result.data), result.bytes);
  softnpuReleaseModelFile(&result);
  return file;
}

// Changes bytes of `file` from `first` on: values, whole words, and cuts.
void damage(std::mt19937_64& random, size_t first, std::string* file) {
  const auto below = [&](size_t count) { return static_cast<size_t>(random() % count); };
  for (size_t i = 1 + below(4); i > 0; --i) {
    if (file->size() <= first + 8) return;
    const size_t at = first + below(file->size() - first - 8);
    switch (below(6)) {
      case 0: (*file)[at] = static_cast<char>((*file)[at] ^ (1 << below(8))); break;
      case 1: (*file)[at] = static_cast<char>(random()); break;
      case 2: {
        constexpr uint64_t kWords[] = {0, 1, UINT64_MAX, INT64_MAX, uint64_t{1} << 31, uint64_t{1} << 40};
        std::memcpy(file->data() + at, &kWords[below(6)], 8);
        break;
      }
      case 3: file->erase(at, 1 + below(8)); break;
      case 4: file->insert(at, 1 + below(8), static_cast<char>(random())); break;
      default: std::memmove(file->data() + at, file->data() + first + below(file->size() - first - 8), 8); break;
    }
  }
}

class Damaged : public ::testing::TestWithParam<unsigned> {
 protected:
  static void SetUpTestSuite() { (void)aclInit(nullptr); }
  void SetUp() override { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS); }
  void TearDown() override { ASSERT_EQ(softnpuReleaseDevice(0), ACL_SUCCESS); }

  // Loads the file if it can be, and unloads it.
  static bool try_load(const std::string& file) {
    uint32_t id = 0;
    const aclError code = aclmdlLoadFromMem(file.data(), file.size(), &id);
    if (code != ACL_SUCCESS) {
      const char* message = aclGetRecentErrMsg();
      EXPECT_TRUE(message != nullptr && message[0] != '\0') << "error " << code << " has no message";
      return false;
    }
    EXPECT_EQ(aclmdlUnload(id), ACL_SUCCESS);
    return true;
  }
};

TEST_P(Damaged, Onnx) {
  std::mt19937_64 random(GetParam());
  const std::string models[] = {small_network(), many_operators()};
  aclError code = ACL_SUCCESS;
  for (const std::string& good : models) {
    const std::string file = compiled(good, &code);
    ASSERT_EQ(code, ACL_SUCCESS) << aclGetRecentErrMsg();
    ASSERT_TRUE(try_load(file));
  }
  size_t errors = 0;
  const size_t count = mutations();
  for (size_t i = 0; i < count; ++i) {
    std::string bad = models[i % 2];
    damage(random, 0, &bad);
    (void)compiled(bad, &code);
    errors += code != ACL_SUCCESS ? 1 : 0;
  }
  EXPECT_GT(errors, count / 10);
  EXPECT_LT(errors, count);
}

TEST_P(Damaged, CompiledModel) {
  std::mt19937_64 random(GetParam());
  aclError code = ACL_SUCCESS;
  const std::string good = compiled(small_network(), &code);
  ASSERT_EQ(code, ACL_SUCCESS) << aclGetRecentErrMsg();
  size_t errors = 0;
  const size_t count = mutations();
  for (size_t i = 0; i < count; ++i) {
    std::string bad = good;
    damage(random, i % 8 == 0 ? 0 : 256, &bad);
    if (i % 16 != 1) {  // the length and the checksum of the others fit
      const uint64_t length = bad.size() - 256;
      std::memcpy(bad.data() + 184, &length, sizeof length);
      sign(&bad);
    }
    errors += try_load(bad) ? 0 : 1;
  }
  EXPECT_GT(errors, count / 10);
  EXPECT_LT(errors, count);
}

TEST_P(Damaged, SingleOperator) {
  std::mt19937_64 random(GetParam());
  softnpu::RegistryCall description;
  description.type = "Transpose";
  description.inputs.resize(2);
  description.outputs.resize(1);
  for (softnpu::RegistryTensor* tensor : {&description.inputs[0], &description.inputs[1], &description.outputs[0]}) {
    tensor->is_given = true;
    tensor->name = "tensor";
    tensor->tensor.dtype = ACL_FLOAT;
    tensor->tensor.dims = {2, -1, 3};
  }
  auto attributes = std::make_shared<aclopAttr>();
  attributes->values["flags"] = std::vector<bool>{true, false};
  attributes->values["lists"] = std::vector<std::vector<int64_t>>{{1, 2}, {3}};
  attributes->values["words"] = std::vector<std::string>{"a", "bc"};
  description.attributes = attributes;
  std::string good;
  softnpuWriteOperatorModel(&description, &good);
  ASSERT_EQ(aclopLoad(good.data(), good.size()), ACL_SUCCESS) << aclGetRecentErrMsg();
  size_t errors = 0;
  const size_t count = mutations();
  for (size_t i = 0; i < count; ++i) {
    std::string bad = good;
    damage(random, 256, &bad);
    const uint64_t length = bad.size() - 256;
    std::memcpy(bad.data() + 184, &length, sizeof length);
    sign(&bad);
    if (aclopLoad(bad.data(), bad.size()) == ACL_SUCCESS) continue;
    ++errors;
    const char* message = aclGetRecentErrMsg();
    ASSERT_TRUE(message != nullptr && message[0] != '\0') << "mutation " << i << " has no message";
  }
  EXPECT_GT(errors, count / 10);
  EXPECT_LT(errors, count);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Damaged, ::testing::Range(0U, 2U));

}  // namespace
}  // namespace graph_tests
