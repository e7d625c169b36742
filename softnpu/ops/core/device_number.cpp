#include "ops/core/device_number.h"

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/core/tensor_memory.h"

namespace softnpu {

Status DeviceNumber::make(const aclTensor& tensor, const char* role, DeviceNumber* out) {
  if (!is_known(tensor.dtype) || is_complex(tensor.dtype) || element_count(tensor) != 1) {
    return {ACLNN_ERR_PARAM_INVALID, text(role, " has to be one real number, and is ", describe(tensor))};
  }
  void* data = nullptr;
  SOFTNPU_RETURN_IF_ERROR(tensor_memory(tensor, role, &data));
  out->data_ = data;
  out->real_ = ElementReader(tensor.dtype, ACL_DOUBLE);
  out->integer_ = ElementReader(tensor.dtype, ACL_INT64);
  return Status::ok();
}

double DeviceNumber::as_double() const {
  double value = 0;
  real_.read(data_, 0, 1, &value);
  return value;
}

int64_t DeviceNumber::as_int64() const {
  int64_t value = 0;
  integer_.read(data_, 0, 1, &value);
  return value;
}

}  // namespace softnpu
