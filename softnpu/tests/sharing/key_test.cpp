// Attacks on the keys of aclrtIpcMemGetExportKey.

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "sharing/sharing_fixture.h"

namespace sharing {
namespace {

class KeyTest : public SharingTest {};

TEST_F(KeyTest, AKeyFailsAfterTheFree) {
  OtherProcess other("importer");
  void* memory = allocate('a');
  const std::string key = key_of(memory);
  ASSERT_EQ(other.ask("import " + key), "ok");
  EXPECT_EQ(other.ask("read"), "a");
  ASSERT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_TRUE(other.ask("import " + key).starts_with("error"));
  OtherProcess late("importer");
  EXPECT_TRUE(late.ask("import " + key).starts_with("error"));
}

TEST_F(KeyTest, AnImporterNeverSeesTheNextOwner) {
  OtherProcess other("importer");
  void* memory = allocate('a');
  const std::string key = key_of(memory);
  ASSERT_EQ(other.ask("import " + key), "ok");
  ASSERT_EQ(aclrtFree(memory), ACL_SUCCESS);
  const std::vector<void*> next = fill_device('n');
  EXPECT_EQ(other.ask("read"), "a");
  ASSERT_EQ(other.ask("write x " + std::to_string(kPage)), "ok");
  EXPECT_EQ(count_changed(next, 'n'), 0u);
  const size_t held = free_memory();
  ASSERT_EQ(other.ask("close " + key), "ok");
  while (free_memory() < held + kPage) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_F(KeyTest, AKeyFailsAfterAReset) {
  OtherProcess other("importer");
  const std::string key = key_of(allocate('a'));
  ASSERT_EQ(other.ask("import " + key), "ok");
  ASSERT_EQ(softnpuReleaseDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const std::vector<void*> next = fill_device('n');
  EXPECT_EQ(other.ask("read"), "a");
  ASSERT_EQ(other.ask("write x " + std::to_string(kPage)), "ok");
  EXPECT_EQ(count_changed(next, 'n'), 0u);
  OtherProcess late("importer");
  EXPECT_TRUE(late.ask("import " + key).starts_with("error"));
}

TEST_F(KeyTest, NoEditedKeyOpensAnything) {
  OtherProcess other("importer");
  std::vector<void*> neighbours;
  for (const char value : {'a', 'b', 'c'}) neighbours.push_back(allocate(value));
  const std::string key = key_of(neighbours[1]);
  ASSERT_EQ(other.ask("import " + key), "ok");
  for (size_t i = std::string("softnpu-").size(); i < key.size(); ++i) {
    for (const char digit : {'0', '1', 'f', '-'}) {
      std::string edited = key;
      edited[i] = digit;
      if (edited == key) continue;
      EXPECT_TRUE(other.ask("import " + edited).starts_with("error")) << edited;
    }
  }
  EXPECT_TRUE(other.ask("import " + key + "0").starts_with("error"));
  EXPECT_TRUE(other.ask("import " + key.substr(0, key.size() - 1)).starts_with("error"));
}

TEST_F(KeyTest, TheListOfProcessesIsAsked) {
  OtherProcess named("importer");
  OtherProcess stranger("importer");
  void* memory = allocate('a');
  const std::string key = key_of(memory, ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT);
  EXPECT_EQ(named.ask("import " + key), "error " + std::to_string(ACL_ERROR_RT_NO_PERMISSION));
  int32_t pid = named.pid();
  ASSERT_EQ(aclrtIpcMemSetImportPid(key.c_str(), &pid, 1), ACL_SUCCESS);
  EXPECT_EQ(named.ask("import " + key), "ok");
  EXPECT_EQ(stranger.ask("import " + key), "error " + std::to_string(ACL_ERROR_RT_NO_PERMISSION));
  EXPECT_NE(aclrtIpcMemSetImportPid("softnpu-1-1-0", &pid, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

TEST_F(KeyTest, AnotherUserNeitherImportsNorExports) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can start a process of another user";
  OtherProcess nobody("importer-as-nobody");
  void* memory = allocate('a');
  EXPECT_TRUE(nobody.ask("import " + key_of(memory)).starts_with("error"));
  const std::string key = nobody.ask("make-key");
  ASSERT_TRUE(key.starts_with("softnpu-")) << key;
  void* opened = nullptr;
  EXPECT_NE(aclrtIpcMemImportByKey(&opened, key.c_str(), 0), ACL_SUCCESS);
  EXPECT_NE(recent_error().find("only processes of one user"), std::string::npos) << recent_error();
}

TEST_F(KeyTest, AForkedChildDoesNotAnswerForItsParent) {
  OtherProcess exporter("exporter");
  const std::string key = exporter.ask("make-key");
  ASSERT_TRUE(key.starts_with("softnpu-")) << key;
  void* opened = nullptr;
  ASSERT_EQ(aclrtIpcMemImportByKey(&opened, key.c_str(), 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtIpcMemClose(key.c_str()), ACL_SUCCESS);
  const pid_t child = std::stoi(exporter.ask("fork"));
  exporter.kill();
  EXPECT_NE(aclrtIpcMemImportByKey(&opened, key.c_str(), 0), ACL_SUCCESS);
  const std::string error = recent_error();
  EXPECT_NE(error.find("cannot be reached"), std::string::npos) << error;
  ::kill(child, SIGKILL);
}

}  // namespace
}  // namespace sharing
