// Unsupported functions report it. tests/abi/test_conformance.py calls all of them; these are cases that need C.

#include "acl/acl_mdl.h"
#include "acl/acl_op_compiler.h"
#include "acl/acl_prof.h"
#include "acl_fixture.h"
#include "runtime/rt.h"

namespace {

using UnsupportedTest = AclTest;

TEST_F(UnsupportedTest, ArgumentsAreLeftAlone) {
  (void)recent_error();
  int untouched = 0;
  EXPECT_EQ(aclmdlRICaptureToModelRIBegin(nullptr, &untouched, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
            ACL_ERROR_FEATURE_UNSUPPORTED);
  EXPECT_EQ(recent_error(), "aclmdlRICaptureToModelRIBegin: a capture makes a new model [error 200006]");
  void* handle = &untouched;
  EXPECT_EQ(rtDevBinaryRegister(nullptr, &handle), RT_ERROR_FEATURE_NOT_SUPPROT);
  EXPECT_EQ(handle, &untouched);
  EXPECT_NE(recent_error().find("rtDevBinaryRegister: "), std::string::npos);
  EXPECT_EQ(aclprofCreateStepInfo(), nullptr);
  EXPECT_NE(recent_error().find("aclprofCreateStepInfo: "), std::string::npos);
  aclprofDestroyStepInfo(nullptr);
  EXPECT_NE(recent_error().find("aclprofDestroyStepInfo: "), std::string::npos);
  // Another library, with the same text.
  EXPECT_EQ(aclCreateGraphDumpOpt(), nullptr);
  EXPECT_NE(recent_error().find("aclCreateGraphDumpOpt: "), std::string::npos);
}

TEST_F(UnsupportedTest, NoStreamCaptures) {
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
  aclmdlRI model = &status;
  EXPECT_EQ(aclmdlRICaptureGetInfo(nullptr, &status, &model), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(aclmdlRICaptureGetInfo(nullptr, nullptr, &model), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlRICaptureGetInfo(nullptr, &status, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlRICaptureGetInfo(&status, &status, &model), ACL_ERROR_RT_STREAM_CONTEXT);
}

}  // namespace
