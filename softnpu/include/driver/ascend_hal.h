#pragma once
// The driver's functions that programs look up in libascend_hal. 0 is success.
// Facts: Ascend/pytorch (BSD-3-Clause) at 9e73e708, torch_npu/csrc/framework/interface/LibAscendHal.cpp and
// torch_npu/npu/__init__.py. See PROVENANCE.md.

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY int32_t drvGetDevNum(int32_t* count);
ACL_FUNC_VISIBILITY int32_t halGetAPIVersion(int32_t* version);
// Module 0, information 24: the frequency of the counter in kHz.
ACL_FUNC_VISIBILITY int32_t halGetDeviceInfo(uint32_t device, int32_t module, int32_t info, int64_t* value);

#ifdef __cplusplus
}
#endif
