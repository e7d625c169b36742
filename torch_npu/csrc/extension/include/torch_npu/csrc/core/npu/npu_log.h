#pragma once
// Lines in CANN's log, which ASCEND_GLOBAL_LOG_LEVEL and ASCEND_SLOG_PRINT_TO_STDOUT control. Arguments are printf's.

#include "third_party/acl/inc/acl/acl.h"

#define ASCEND_LOGE(...) aclAppLog(ACL_ERROR, __FUNCTION__, __FILE__, __LINE__, __VA_ARGS__)
#define ASCEND_LOGW(...) aclAppLog(ACL_WARNING, __FUNCTION__, __FILE__, __LINE__, __VA_ARGS__)
#define ASCEND_LOGI(...) aclAppLog(ACL_INFO, __FUNCTION__, __FILE__, __LINE__, __VA_ARGS__)
#define ASCEND_LOGD(...) aclAppLog(ACL_DEBUG, __FUNCTION__, __FILE__, __LINE__, __VA_ARGS__)
