#include "ccl/settings.h"

#include "base/environment.h"

namespace softnpu::ccl {

Status read_settings(Settings* out) {
  using environment::integer, environment::store;
  SOFTNPU_RETURN_IF_ERROR(store(integer("HCCL_CONNECT_TIMEOUT"), &out->connect));
  SOFTNPU_RETURN_IF_ERROR(store(integer("HCCL_EXEC_TIMEOUT"), &out->execute));
  if (out->execute.count() == 0) out->execute = Settings::kForever;
  return Status::ok();
}

}  // namespace softnpu::ccl
