#include "aten/aclnn/host.h"

#include <string>

namespace torch_npu::aclnn_check {

c10::OperatorHandle operator_named(const char* name) {
  const std::string whole(name);
  const std::size_t dot = whole.find('.');
  const std::string overload = dot == std::string::npos ? "" : whole.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchemaOrThrow(("aten::" + whole.substr(0, dot)).c_str(), overload.c_str());
}

}  // namespace torch_npu::aclnn_check
