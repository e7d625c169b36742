// aclprof*: the order of calls, the folder, errors.

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <system_error>

#include "acl/acl_prof.h"
#include "acl_fixture.h"
#include "blocking_task.h"

namespace {

namespace fs = std::filesystem;

class ProfileTest : public AclTest {
 protected:
  void SetUp() override {
    AclTest::SetUp();
    folder_ = fs::path(testing::TempDir()) / ("profile_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    (void)aclprofFinalize();
    (void)recent_error();
    fs::remove_all(folder_);
    AclTest::TearDown();
  }

  aclError init() const { return aclprofInit(folder_.c_str(), folder_.native().size()); }
  static aclprofConfig* config(uint64_t data = ACL_PROF_ACL_API | ACL_PROF_TASK_TIME) {
    uint32_t device = 0;
    return aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr, data);
  }
  fs::path created() const {
    for (const auto& entry : fs::directory_iterator(folder_)) return entry.path();
    return {};
  }

  fs::path folder_;
};

TEST_F(ProfileTest, AProfileIsAFolderThatToolsKnow) {
  ASSERT_EQ(init(), ACL_SUCCESS);
  EXPECT_TRUE(std::regex_match(created().filename().string(), std::regex("PROF_\\d{6}_\\d{17}_[A-Z]+")));
  EXPECT_TRUE(fs::is_directory(created() / "host" / "data"));
  aclprofConfig* settings = config();
  ASSERT_NE(settings, nullptr);
  ASSERT_EQ(aclprofStart(settings), ACL_SUCCESS);
  EXPECT_TRUE(fs::is_directory(created() / "device_0" / "data"));
  EXPECT_TRUE(fs::exists(created() / "host" / "start_info"));
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  auto nothing = [] {};
  for (int i = 0; i < 10; ++i) ASSERT_EQ(launch(stream, nothing), ACL_SUCCESS);
  ASSERT_EQ(aclprofStop(settings), ACL_SUCCESS);
  std::ifstream end(created() / "host" / "end_info");
  std::string line;
  std::getline(end, line);
  EXPECT_NE(line.find("\"missing\": 0, \"lost\": 0"), std::string::npos) << line;
  // A launch and a run for each task.
  EXPECT_GE(fs::file_size(created() / "host" / "data" / "softnpu.records"), 8 + 20 * 80U);
  EXPECT_EQ(aclprofDestroyConfig(settings), ACL_SUCCESS);
  EXPECT_EQ(aclprofFinalize(), ACL_SUCCESS);
}

TEST_F(ProfileTest, CallsInTheWrongOrderSayWhatIsMissing) {
  aclprofConfig* settings = config();
  EXPECT_EQ(aclprofStart(settings), ACL_ERROR_PROF_NOT_RUN);
  EXPECT_NE(recent_error().find("call aclprofInit"), std::string::npos);
  EXPECT_EQ(aclprofStop(settings), ACL_ERROR_PROF_NOT_RUN);
  EXPECT_EQ(aclprofFinalize(), ACL_ERROR_PROF_NOT_RUN);
  ASSERT_EQ(init(), ACL_SUCCESS);
  EXPECT_EQ(init(), ACL_ERROR_PROF_ALREADY_RUN);
  EXPECT_EQ(aclprofStop(settings), ACL_ERROR_PROF_NOT_RUN);
  ASSERT_EQ(aclprofStart(settings), ACL_SUCCESS);
  EXPECT_EQ(aclprofStart(settings), ACL_ERROR_PROF_ALREADY_RUN);
  ASSERT_EQ(aclprofStop(settings), ACL_SUCCESS);
  EXPECT_EQ(aclprofStop(settings), ACL_ERROR_PROF_NOT_RUN);
  EXPECT_EQ(aclprofStart(settings), ACL_ERROR_PROF_ALREADY_RUN);
  EXPECT_EQ(aclprofDestroyConfig(settings), ACL_SUCCESS);
}

TEST_F(ProfileTest, WrongArgumentsAreRefused) {
  EXPECT_EQ(aclprofInit(nullptr, 4), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofInit("", 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofInit("/no/such/folder", 15), ACL_ERROR_INVALID_FILE);
  EXPECT_NE(recent_error().find("/no/such/folder does not exist"), std::string::npos);
  uint32_t far = 99;
  EXPECT_EQ(aclprofCreateConfig(&far, 1, ACL_AICORE_NONE, nullptr, ACL_PROF_TASK_TIME), nullptr);
  EXPECT_NE(recent_error().find("device 99 does not exist"), std::string::npos);
  EXPECT_EQ(config(0), nullptr);
  aclprofConfig* settings = config();
  EXPECT_EQ(aclprofDestroyConfig(settings), ACL_SUCCESS);
  EXPECT_EQ(aclprofDestroyConfig(settings), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclprofStart(settings), ACL_ERROR_INVALID_PARAM);
}

TEST_F(ProfileTest, ManyProfilesInARow) {
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(init(), ACL_SUCCESS);
    aclprofConfig* settings = config();
    ASSERT_EQ(aclprofStart(settings), ACL_SUCCESS);
    ASSERT_EQ(aclprofStop(settings), ACL_SUCCESS);
    ASSERT_EQ(aclprofDestroyConfig(settings), ACL_SUCCESS);
    ASSERT_EQ(aclprofFinalize(), ACL_SUCCESS);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 50);
}

}  // namespace
