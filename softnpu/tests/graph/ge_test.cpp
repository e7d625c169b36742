// Graphs of ge::, parsed from ONNX, compiled, saved and loaded.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "acl/acl.h"
#include "acl/acl_mdl.h"
#include "ge/ir_build.h"
#include "graph/proto.h"
#include "softnpu/softnpu.h"

namespace graph_tests {
namespace {

std::string recent_error() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

class Ge : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { (void)aclInit(nullptr); }
  void SetUp() override { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS); }
  void TearDown() override {
    ge::aclgrphBuildFinalize();
    ASSERT_EQ(softnpuReleaseDevice(0), ACL_SUCCESS);
  }

  static ge::graphStatus parse(const std::string& onnx, ge::Graph* graph) {
    return ge::aclgrphParseONNXFromMem(onnx.data(), onnx.size(), {}, *graph);
  }
  static ge::Options options(const char* key, const char* value) {
    return {{ge::AscendString(key), ge::AscendString(value)}};
  }
};

TEST_F(Ge, AParsedModelIsBuiltAndLoads) {
  ge::Graph graph("net");
  ASSERT_EQ(parse(small_network(), &graph), ge::kSuccess) << recent_error();
  ge::ModelBufferData model{};
  ASSERT_EQ(ge::aclgrphBuildModel(graph, options("input_shape", "x:1,3,4,4"), model), ge::kSuccess) << recent_error();
  uint32_t id = 0;
  ASSERT_EQ(aclmdlLoadFromMem(model.data.get(), model.length, &id), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(aclmdlUnload(id), ACL_SUCCESS);

  const std::string path = ::testing::TempDir() + "ge_model";
  ASSERT_EQ(ge::aclgrphSaveModel(path.c_str(), model), ge::kSuccess) << recent_error();
  ASSERT_EQ(aclmdlLoadFromFile((path + ".om").c_str(), &id), ACL_SUCCESS) << recent_error();
  EXPECT_EQ(aclmdlUnload(id), ACL_SUCCESS);
  std::remove((path + ".om").c_str());
}

TEST_F(Ge, StringsOfThisAbiDoTheSame) {
  ge::Graph graph(std::string("net"));
  ASSERT_EQ(parse(small_network(), &graph), ge::kSuccess);
  const std::map<std::string, std::string> global = {{"ge.socVersion", "Ascend910B1"}};
  EXPECT_EQ(ge::aclgrphBuildInitialize(global), ge::kSuccess);
  ge::ModelBufferData model{};
  EXPECT_EQ(ge::aclgrphBuildModel(graph, std::map<std::string, std::string>{}, model), ge::kSuccess);
  EXPECT_GT(model.length, 0U);
}

TEST_F(Ge, ErrorsSayWhatIsWrong) {
  ge::Graph graph("net");
  ge::ModelBufferData model{};
  EXPECT_EQ(ge::aclgrphBuildModel(graph, ge::Options{}, model), ge::kFailed);
  EXPECT_NE(recent_error().find("the graph is empty"), std::string::npos);
  EXPECT_EQ(parse("no model", &graph), ge::kFailed);
  EXPECT_FALSE(recent_error().empty());
  ASSERT_EQ(parse(small_network(), &graph), ge::kSuccess);
  EXPECT_EQ(ge::aclgrphBuildModel(graph, options("ge.magic", "1"), model), ge::kFailed);
  EXPECT_NE(recent_error().find("ge.magic is not implemented; there are"), std::string::npos);
  EXPECT_EQ(ge::aclgrphBuildModel(graph, options("input_shape", "z:1"), model), ge::kFailed);
  EXPECT_FALSE(recent_error().empty());
  ge::Options unknown = options("ge.exec.precision_mode", "magic");
  EXPECT_EQ(ge::aclgrphBuildInitialize(unknown), ge::kFailed);
  EXPECT_NE(recent_error().find("there is no precision mode magic"), std::string::npos);
  EXPECT_EQ(ge::aclgrphSaveModel("/no folder/model", {}), ge::kFailed);
}

TEST(AscendString, IsOrderedByItsText) {
  const ge::AscendString a("a");
  const ge::AscendString b("b");
  const ge::AscendString none;
  EXPECT_TRUE(a < b && !(b < a) && none < a && !(none < none));
  EXPECT_STREQ(ge::AscendString(a).GetString(), "a");
  EXPECT_STREQ(none.GetString(), "");
}

}  // namespace
}  // namespace graph_tests
