#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"

namespace {

std::string error() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

std::string get(aclCompileOpt opt) {
  std::vector<char> value(aclGetCompileoptSize(opt), 'x');
  EXPECT_EQ(aclGetCompileopt(opt, value.data(), value.size()), ACL_SUCCESS) << error();
  EXPECT_EQ(value.back(), '\0');
  return value.data();
}

// Each test restores the process's options.
TEST(CompileOptions, BeginEmptyAndWithoutCompilation) {
  for (int opt = ACL_PRECISION_MODE; opt <= ACL_OP_DEBUG_OPTION; ++opt) {
    EXPECT_EQ(get(static_cast<aclCompileOpt>(opt)), opt == ACL_OP_JIT_COMPILE ? "disable" : "") << opt;
  }
}

TEST(CompileOptions, SetOptionsAreReturned) {
  EXPECT_EQ(aclSetCompileopt(ACL_PRECISION_MODE, "must_keep_origin_dtype"), ACL_SUCCESS);
  EXPECT_EQ(aclSetCompileopt(ACL_OP_DEBUG_OPTION, "a"), ACL_SUCCESS);
  EXPECT_EQ(get(ACL_PRECISION_MODE), "must_keep_origin_dtype");
  EXPECT_EQ(get(ACL_OP_DEBUG_OPTION), "a");
  EXPECT_EQ(aclGetCompileoptSize(ACL_PRECISION_MODE), sizeof "must_keep_origin_dtype");
  EXPECT_EQ(aclSetCompileopt(ACL_PRECISION_MODE, ""), ACL_SUCCESS);
  EXPECT_EQ(aclSetCompileopt(ACL_OP_DEBUG_OPTION, ""), ACL_SUCCESS);
  EXPECT_EQ(get(ACL_PRECISION_MODE), "");
}

TEST(CompileOptions, BadInput) {
  std::vector<char> value(7, 'x');
  (void)error();
  EXPECT_EQ(aclGetCompileopt(ACL_OP_JIT_COMPILE, value.data(), value.size()), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(error().find("the option takes 8 bytes; there is room for 7"), std::string::npos);
  EXPECT_EQ(value, std::vector<char>(7, 'x'));
  EXPECT_EQ(aclGetCompileopt(ACL_OP_JIT_COMPILE, nullptr, 100), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetCompileopt(ACL_OP_JIT_COMPILE, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(get(ACL_OP_JIT_COMPILE), "disable");
  for (int unknown : {-1, 17}) {
    auto opt = static_cast<aclCompileOpt>(unknown);
    (void)error();
    EXPECT_EQ(aclSetCompileopt(opt, "x"), ACL_ERROR_INVALID_PARAM);
    EXPECT_NE(error().find("there is no compile option " + std::to_string(unknown)), std::string::npos);
    EXPECT_EQ(aclGetCompileoptSize(opt), 0u);
    EXPECT_EQ(aclGetCompileopt(opt, value.data(), value.size()), ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_EQ(aclopSetCompileFlag(ACL_OP_COMPILE_FUZZ), ACL_SUCCESS);
  EXPECT_EQ(aclopSetCompileFlag(ACL_OP_COMPILE_DEFAULT), ACL_SUCCESS);
  EXPECT_EQ(aclopSetCompileFlag(static_cast<aclOpCompileFlag>(2)), ACL_ERROR_INVALID_PARAM);
}

TEST(CompileOptions, ManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      std::string own(static_cast<size_t>(t) * 10, static_cast<char>('a' + t));
      for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(aclSetCompileopt(ACL_DEBUG_DIR, own.c_str()), ACL_SUCCESS);
        char value[100];
        EXPECT_EQ(aclGetCompileopt(ACL_DEBUG_DIR, value, sizeof value), ACL_SUCCESS);
        // The whole value of one thread.
        std::string found = value;
        EXPECT_EQ(found.find_first_not_of(found[0]), std::string::npos) << found;
        EXPECT_EQ(found.size() % 10, 0u) << found;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(aclSetCompileopt(ACL_DEBUG_DIR, ""), ACL_SUCCESS);
}

}  // namespace
