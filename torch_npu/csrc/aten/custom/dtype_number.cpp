#include "aten/custom/dtype_number.h"

#include <c10/util/Exception.h>

#include "core/aclnn_argument.h"

namespace torch_npu::custom {
namespace {

constexpr int64_t kFirst = 256;  // of the numbers of aclDataTypes

at::ScalarType stored(at::ScalarType type) {
  if (type == at::kQInt8) return at::kChar;
  if (type == at::kQUInt8) return at::kByte;
  return type == at::kQInt32 ? at::kInt : type;
}

}  // namespace

at::ScalarType dtype_of_number(const char* role, int64_t number) {
  constexpr auto kCount = static_cast<int64_t>(at::ScalarType::Undefined);
  if (number >= 0 && number < kCount) return stored(static_cast<at::ScalarType>(number));
  for (int64_t i = 0; i < kCount; ++i) {
    const auto type = static_cast<at::ScalarType>(i);
    if (number >= kFirst && acl_data_type(type) == static_cast<aclDataType>(number - kFirst)) return type;
  }
  TORCH_CHECK(false, role, " is ", number, ", which is no data type: torch.int8 or torch_npu.int8 are examples");
}

}  // namespace torch_npu::custom
