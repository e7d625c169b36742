#pragma once
// Errors of CANN's calls as exceptions.

#include <c10/util/Exception.h>

#include <string>

#include "third_party/acl/inc/acl/acl.h"
#include "torch_npu/csrc/core/npu/NPUMacros.h"

// The parts of the number in an error text, ERR<module><code>.
enum class SubModule { PTA = 0, OPS = 1, DIST = 2, GRAPH = 3, PROF = 4 };
enum class ErrCode {
  SUC = 0,
  PARAM = 1,
  TYPE = 2,
  VALUE = 3,
  PTR = 4,
  INTERNAL = 5,
  MEMORY = 6,
  NOT_SUPPORT = 7,
  NOT_FOUND = 8,
  UNAVAIL = 9,
  SYSCALL = 10,
  TIMEOUT = 11,
  PERMISSION = 12,
  ACL = 100,
  HCCL = 200,
  GE = 300,
};

// The last line of an error text: time, process, device, rank, number and what the number means.
TORCH_NPU_API std::string formatErrorCode(SubModule module, ErrCode code);

#define PTA_ERROR(code) formatErrorCode(SubModule::PTA, code)
#define OPS_ERROR(code) formatErrorCode(SubModule::OPS, code)
#define DIST_ERROR(code) formatErrorCode(SubModule::DIST, code)
#define GRAPH_ERROR(code) formatErrorCode(SubModule::GRAPH, code)
#define PROF_ERROR(code) formatErrorCode(SubModule::PROF, code)

namespace c10_npu {

// The runtime's newest error message on this thread, which is then forgotten; empty if there is none.
C10_NPU_API const char* c10_npu_get_error_message();

namespace detail {

// Throws c10::Error unless `code` is 0, with `call` and the runtime's message.
C10_NPU_API void check_acl(int code, const char* call, c10::SourceLocation where);
C10_NPU_API void check_aclnn(int code, const char* call, c10::SourceLocation where);
// A warning instead.
C10_NPU_API void warn_acl(int code, const char* call);

inline const char* name_of(const char* expression) { return expression; }
inline const char* name_of(const char*, const char* name) { return name; }

}  // namespace detail
}  // namespace c10_npu

#define TORCH_NPU_HERE \
  c10::SourceLocation { __func__, __FILE__, static_cast<uint32_t>(__LINE__) }

// NPU_CHECK_ERROR(aclrtSynchronizeStream(stream)): a function of the runtime; a second argument names it in the text.
#define NPU_CHECK_ERROR(code, ...) \
  c10_npu::detail::check_acl(code, c10_npu::detail::name_of(#code __VA_OPT__(, ) __VA_ARGS__), TORCH_NPU_HERE)
#define NPU_CHECK_ERROR_WITHOUT_UCE(code, ...) NPU_CHECK_ERROR(code __VA_OPT__(, ) __VA_ARGS__)
#define NPU_CHECK_WARN(code) c10_npu::detail::warn_acl(code, #code)
// The same for a function of the operator library.
#define OPS_CHECK_ERROR(code, ...) \
  c10_npu::detail::check_aclnn(code, c10_npu::detail::name_of(#code __VA_OPT__(, ) __VA_ARGS__), TORCH_NPU_HERE)

#define TORCH_NPU_WARN(...) TORCH_WARN(__VA_ARGS__)
#define TORCH_NPU_WARN_ONCE(...) TORCH_WARN_ONCE(__VA_ARGS__)
