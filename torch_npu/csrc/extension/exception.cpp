#include <algorithm>
#include <string>

#include "core/acl.h"
#include "core/aclnn.h"
#include "torch_npu/csrc/core/npu/NPUException.h"

namespace {

const char* module_name(SubModule module) {
  switch (module) {
    case SubModule::PTA: return "PTA";
    case SubModule::OPS: return "OPS";
    case SubModule::DIST: return "DIST";
    case SubModule::GRAPH: return "GRAPH";
    case SubModule::PROF: return "PROF";
  }
  return "";
}

const char* meaning(ErrCode code) {
  switch (code) {
    case ErrCode::SUC: return "success";
    case ErrCode::PARAM: return "invalid parameter";
    case ErrCode::TYPE: return "invalid type";
    case ErrCode::VALUE: return "invalid value";
    case ErrCode::PTR: return "invalid pointer";
    case ErrCode::INTERNAL: return "internal error";
    case ErrCode::MEMORY: return "memory error";
    case ErrCode::NOT_SUPPORT: return "feature not supported";
    case ErrCode::NOT_FOUND: return "resource not found";
    case ErrCode::UNAVAIL: return "resource unavailable";
    case ErrCode::SYSCALL: return "system call failed";
    case ErrCode::TIMEOUT: return "timeout error";
    case ErrCode::PERMISSION: return "permission error";
    case ErrCode::ACL: return "call acl api failed";
    case ErrCode::HCCL: return "call hccl api failed";
    case ErrCode::GE: return "call ge api failed";
  }
  return "";
}

std::string padded(int number, std::size_t digits) {
  std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

// The error of `fail`, with the place of the extension's call.
template <typename Fail>
void rethrow_at(c10::SourceLocation where, const Fail& fail) {
  try {
    fail();
  } catch (const c10::IndexError&) {
    throw;
  } catch (const c10::Error& error) {
    throw c10::Error(where, error.what_without_backtrace());
  }
}

}  // namespace

std::string formatErrorCode(SubModule module, ErrCode code) {
  const std::string number = "ERR" + padded(static_cast<int>(module), 2) + padded(static_cast<int>(code), 3);
  return torch_npu::error_tail(number.c_str(), (std::string(module_name(module)) + " " + meaning(code)).c_str());
}

namespace c10_npu {

const char* c10_npu_get_error_message() {
  const char* message = aclGetRecentErrMsg();
  return message == nullptr ? "" : message;
}

void detail::check_acl(int code, const char* call, c10::SourceLocation where) {
  if (C10_LIKELY(code == ACL_SUCCESS)) return;
  rethrow_at(where, [&] { torch_npu::acl_check(code, call); });
}

void detail::check_aclnn(int code, const char* call, c10::SourceLocation where) {
  if (C10_LIKELY(code == ACL_SUCCESS)) return;
  rethrow_at(where, [&] { torch_npu::check_aclnn(code, call); });
}

void detail::warn_acl(int code, const char* call) { torch_npu::acl_warn(code, call); }

}  // namespace c10_npu
