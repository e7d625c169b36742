// Operators invoked by type name: read, compiled once, run on the stream.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_op_compiler.h"
#include "acl_fixture.h"
#include "softnpu/softnpu.h"

namespace {

struct Operand {
  std::vector<int64_t> dims;
  std::vector<float> values;
};

// A call with float32 tensors; the results are read back after run().
class RegistryCallTest : public AclTest {
 protected:
  void TearDown() override {
    for (const aclTensorDesc* desc : descs_) aclDestroyTensorDesc(desc);
    for (const aclDataBuffer* buffer : buffers_) (void)aclDestroyDataBuffer(buffer);
    for (void* block : blocks_) (void)aclrtFree(block);
    AclTest::TearDown();
  }

  struct CreatedTensors {
    std::vector<const aclTensorDesc*> descs;
    std::vector<aclDataBuffer*> buffers;
    std::vector<void*> blocks;
  };

  void add(CreatedTensors* result, const Operand& operand) {
    const size_t bytes = operand.values.size() * sizeof(float);
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, std::max<size_t>(bytes, 1), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpy(block, bytes, operand.values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    add(result,
        aclCreateTensorDesc(ACL_FLOAT, static_cast<int>(operand.dims.size()), operand.dims.data(), ACL_FORMAT_ND),
        aclCreateDataBuffer(block, bytes));
    result->blocks.push_back(block);
    blocks_.push_back(block);
  }
  void add_nothing(CreatedTensors* result) {
    add(result, aclCreateTensorDesc(ACL_DT_UNDEFINED, 0, nullptr, ACL_FORMAT_UNDEFINED),
        aclCreateDataBuffer(nullptr, 0));
  }

  static aclError run(const char* type, CreatedTensors& inputs, CreatedTensors& outputs,
                      const aclopAttr* attributes = nullptr) {
    return aclopCompileAndExecute(type, static_cast<int>(inputs.descs.size()), inputs.descs.data(),
                                  inputs.buffers.data(), static_cast<int>(outputs.descs.size()), outputs.descs.data(),
                                  outputs.buffers.data(), attributes, ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr,
                                  nullptr);
  }

  static std::vector<float> read(const CreatedTensors& result, size_t location, size_t count) {
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << recent_error();
    std::vector<float> values(count);
    EXPECT_EQ(aclrtMemcpy(values.data(), count * 4, result.blocks[location], count * 4, ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    return values;
  }

 private:
  void add(CreatedTensors* result, const aclTensorDesc* desc, aclDataBuffer* buffer) {
    result->descs.push_back(desc);
    result->buffers.push_back(buffer);
    descs_.push_back(desc);
    buffers_.push_back(buffer);
  }

  std::vector<const aclTensorDesc*> descs_;
  std::vector<const aclDataBuffer*> buffers_;
  std::vector<void*> blocks_;
};

TEST_F(RegistryCallTest, AnOperatorIsCompiledOnce) {
  CreatedTensors inputs;
  CreatedTensors outputs;
  add(&inputs, {{2, 3}, {1, 2, 3, 4, 5, 6}});
  add(&inputs, {{3}, {10, 20, 30}});
  add(&outputs, {{2, 3}, std::vector<float>(6)});
  softnpuCompileStatistics before{};
  softnpuCompileStatistics after{};
  ASSERT_EQ(softnpuGetCompileStatistics(&before), ACL_SUCCESS);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(run("Mul", inputs, outputs), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(read(outputs, 0, 6), (std::vector<float>{10, 40, 90, 40, 100, 180}));
  ASSERT_EQ(softnpuGetCompileStatistics(&after), ACL_SUCCESS);
  EXPECT_EQ(after.compiled - before.compiled, 1);
  EXPECT_EQ(after.reused - before.reused, 2);
  EXPECT_EQ(after.kept - before.kept, 1);
  EXPECT_EQ(softnpuGetCompileStatistics(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(RegistryCallTest, AnUnknownTypeIsNamed) {
  CreatedTensors none;
  EXPECT_EQ(run("FlyToTheMoon", none, none), ACL_ERROR_OP_NOT_FOUND);
  EXPECT_NE(recent_error().find("FlyToTheMoon: no operator is of this type"), std::string::npos) << recent_error();
  EXPECT_EQ(run(nullptr, none, none), ACL_ERROR_INVALID_PARAM);
}

TEST_F(RegistryCallTest, InvalidCallsAreRefused) {
  CreatedTensors inputs;
  CreatedTensors outputs;
  add(&inputs, {{2, 2}, {1, 2, 3, 4}});
  add(&outputs, {{2, 2}, std::vector<float>(4)});
  EXPECT_EQ(run("Mul", inputs, outputs), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_error().find("1 inputs and 1 outputs, where 2 and 1 are needed"), std::string::npos);
  add(&inputs, {{2, 2}, {1, 2, 3}});  // fewer bytes than the sizes need
  EXPECT_EQ(run("Mul", inputs, outputs), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_error().find("the buffer of input 1 has 12 bytes, where 16 are needed"), std::string::npos);
  aclDestroyTensorDesc(inputs.descs[0]);
  EXPECT_EQ(run("Mul", inputs, outputs), ACL_ERROR_INVALID_PARAM);
}

TEST_F(RegistryCallTest, EnqueuedWorkOutlivesItsDescriptions) {
  CreatedTensors inputs;
  CreatedTensors outputs;
  const size_t count = size_t{1} << 20;
  add(&inputs, {{static_cast<int64_t>(count)}, std::vector<float>(count, 2)});
  add(&outputs, {{static_cast<int64_t>(count)}, std::vector<float>(count)});
  ASSERT_EQ(run("Neg", inputs, outputs), ACL_SUCCESS) << recent_error();
  for (const aclTensorDesc* desc : inputs.descs) aclDestroyTensorDesc(desc);
  EXPECT_EQ(read(outputs, 0, count), std::vector<float>(count, -2));
}

TEST_F(RegistryCallTest, SizesThatTheRunDecidesAreReported) {
  CreatedTensors inputs;
  add(&inputs, {{4}, {0, 1, 0, 3}});
  void* found = nullptr;
  ASSERT_EQ(aclrtMalloc(&found, 4 * sizeof(int64_t), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  const int64_t most[] = {4, 1};
  aclTensorDesc* output = aclCreateTensorDesc(ACL_INT64, 2, most, ACL_FORMAT_ND);
  aclDataBuffer* buffer = aclCreateDataBuffer(found, sizeof(int64_t) * 4);
  auto* input = const_cast<aclTensorDesc*>(inputs.descs[0]);
  ASSERT_EQ(aclopCompileAndExecuteV2("NonZero", 1, &input, inputs.buffers.data(), 1, &output, &buffer, nullptr,
                                     ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, nullptr),
            ACL_SUCCESS)
      << recent_error();
  int64_t rows = 0;
  ASSERT_EQ(aclGetTensorDescDimV2(output, 0, &rows), ACL_SUCCESS);
  EXPECT_EQ(rows, 2);
  aclDestroyTensorDesc(output);
  (void)aclDestroyDataBuffer(buffer);
  (void)aclrtFree(found);
}

// One unit and one input keep the numbers readable; gates in the order i, f, j, o.
class LstmTest : public RegistryCallTest {
 protected:
  void SetUp() override {
    RegistryCallTest::SetUp();
    attributes_ = aclopCreateAttr();
    ASSERT_EQ(aclopSetAttrString(attributes_, "gate_order", "ifjo"), ACL_SUCCESS);
  }
  void TearDown() override {
    aclopDestroyAttr(attributes_);
    RegistryCallTest::TearDown();
  }

  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

  struct State {
    double h = 0;
    double c = 0;
  };
  // One step with the weights below.
  static State step(double x, const State& before) {
    const auto sum = [&](size_t gate) { return x * kWeights[gate] + before.h * kWeights[4 + gate] + kBias[gate]; };
    const double c = sigmoid(sum(1)) * before.c + sigmoid(sum(0)) * std::tanh(sum(2));
    return {sigmoid(sum(3)) * std::tanh(c), c};
  }

  // x: [3, 1, 1].
  void forward(const std::vector<float>& x, CreatedTensors* outputs, bool reversed = false) {
    ASSERT_EQ(aclopSetAttrString(attributes_, "direction", reversed ? "REDIRECTIONAL" : "UNIDIRECTIONAL"), ACL_SUCCESS);
    CreatedTensors inputs;
    add(&inputs, {{3, 1, 1}, x});
    add(&inputs, {{2, 4}, kWeights});
    add(&inputs, {{4}, kBias});
    add_nothing(&inputs);
    for (int i = 0; i < 2; ++i) add(&inputs, {{1, 1, 1}, {0.5F}});
    for (int i = 0; i < 8; ++i) add(outputs, {{3, 1, 1}, std::vector<float>(3)});
    ASSERT_EQ(run("DynamicRNN", inputs, *outputs, attributes_), ACL_SUCCESS) << recent_error();
  }

  static inline const std::vector<float> kWeights = {0.1F, -0.2F, 0.3F, 0.4F, -0.5F, 0.6F, 0.7F, -0.8F};
  static inline const std::vector<float> kBias = {0.01F, 0.02F, 0.03F, 0.04F};
  aclopAttr* attributes_ = nullptr;
};

TEST_F(LstmTest, StepsFollowTheDefinition) {
  const std::vector<float> x = {1, -2, 3};
  for (bool reversed : {false, true}) {
    CreatedTensors outputs;
    forward(x, &outputs, reversed);
    const std::vector<float> y = read(outputs, 0, 3);
    const std::vector<float> c = read(outputs, 2, 3);
    State state{0.5, 0.5};
    for (size_t order = 0; order < 3; ++order) {
      const size_t t = reversed ? 2 - order : order;
      state = step(x[t], state);
      EXPECT_NEAR(y[t], state.h, 1e-6);
      EXPECT_NEAR(c[t], state.c, 1e-6);
    }
  }
}

// Against finite differences of the sum of y.
TEST_F(LstmTest, InputGradientMatchesFiniteDifferences) {
  const std::vector<float> x = {1, -2, 3};
  CreatedTensors forwards;
  forward(x, &forwards);
  CreatedTensors inputs;
  add(&inputs, {{3, 1, 1}, x});
  add(&inputs, {{2, 4}, kWeights});
  add(&inputs, {{4}, kBias});
  const auto pass_on = [&](size_t location) { add(&inputs, {{3, 1, 1}, read(forwards, location, 3)}); };
  pass_on(0);
  for (int i = 0; i < 2; ++i) add(&inputs, {{1, 1}, {0.5F}});
  pass_on(1);
  pass_on(2);
  add(&inputs, {{3, 1, 1}, {1, 1, 1}});
  for (int i = 0; i < 2; ++i) add(&inputs, {{1, 1}, {0}});
  for (size_t location = 3; location < 8; ++location) pass_on(location);
  for (int i = 0; i < 5; ++i) add(&inputs, {{}, {0}});
  CreatedTensors outputs;
  add(&outputs, {{2, 4}, std::vector<float>(8)});
  add(&outputs, {{4}, std::vector<float>(4)});
  add(&outputs, {{3, 1, 1}, std::vector<float>(3)});
  for (int i = 0; i < 2; ++i) add(&outputs, {{1, 1}, {0}});
  ASSERT_EQ(run("DynamicRNNGrad", inputs, outputs, attributes_), ACL_SUCCESS) << recent_error();
  const std::vector<float> slopes = read(outputs, 2, 3);
  for (size_t i = 0; i < 3; ++i) {
    const auto sum_at = [&](double shift) {
      State state{0.5, 0.5};
      double sum = 0;
      for (size_t t = 0; t < 3; ++t) {
        state = step(x[t] + (t == i ? shift : 0), state);
        sum += state.h;
      }
      return sum;
    };
    constexpr double kShift = 1e-5;
    EXPECT_NEAR(slopes[i], (sum_at(kShift) - sum_at(-kShift)) / (2 * kShift), 1e-5);
  }
}

TEST_F(LstmTest, UnsupportedAttributesAreErrors) {
  ASSERT_EQ(aclopSetAttrBool(attributes_, "use_peephole", 1), ACL_SUCCESS);
  CreatedTensors inputs;
  CreatedTensors outputs;
  add(&inputs, {{3, 1, 1}, {1, 2, 3}});
  add(&inputs, {{2, 4}, kWeights});
  for (int i = 0; i < 4; ++i) add_nothing(&inputs);
  for (int i = 0; i < 8; ++i) add(&outputs, {{3, 1, 1}, std::vector<float>(3)});
  EXPECT_EQ(run("DynamicRNN", inputs, outputs, attributes_), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_error().find("without peepholes"), std::string::npos) << recent_error();
}

}  // namespace
