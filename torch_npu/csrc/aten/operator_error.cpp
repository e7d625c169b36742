#include "aten/operator_error.h"

#include <typeinfo>
#include <utility>

#include "core/acl.h"

namespace torch_npu {
namespace {

template <typename E>
void throw_if_of_type(const c10::Error& error, const std::string& message, const char* code, const char* text) {
  if (typeid(error) != typeid(E)) return;
  const bool has_line = message.find("\n[ERROR] ") != std::string::npos;
  throw E({__func__, __FILE__, __LINE__}, code == nullptr || has_line ? message : message + error_tail(code, text));
}

void throw_if_known(const c10::Error& error, const std::string& message) {
  constexpr const char* kParameter = "ERR01001";
  constexpr const char* kInvalidParameter = "OPS invalid parameter";
  throw_if_of_type<c10::Error>(error, message, kParameter, kInvalidParameter);
  throw_if_of_type<c10::IndexError>(error, message, kParameter, kInvalidParameter);
  throw_if_of_type<c10::TypeError>(error, message, "ERR01002", "OPS invalid type");
  throw_if_of_type<c10::ValueError>(error, message, "ERR01003", "OPS invalid value");
  throw_if_of_type<c10::NotImplementedError>(error, message, "ERR01007", "OPS feature not supported");
  throw_if_of_type<c10::LinAlgError>(error, message, nullptr, nullptr);  // about values that only the kernel sees
}

}  // namespace

void rethrow_with_code() {
  try {
    throw;
  } catch (const c10::Error& error) {
    throw_if_known(error, error.what_without_backtrace());
    throw;
  }
}

void throw_like(const c10::Error& error, std::string message) {
  throw_if_known(error, message);
  throw c10::Error({__func__, __FILE__, __LINE__}, std::move(message));
}

}  // namespace torch_npu
