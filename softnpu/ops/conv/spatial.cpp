#include "ops/conv/spatial.h"

#include "base/text.h"

namespace softnpu {

Status read_spatial(const aclIntArray* values, const char* name, size_t dims, int64_t least, int64_t fallback,
                    Triple* out) {
  out->fill(fallback);
  if (values == nullptr) return Status::ok();
  if (values->size() != dims && values->size() != 1) {
    return {ACLNN_ERR_PARAM_INVALID, text(name, " has ", values->size(), " values, where 1 or ", dims, " are needed")};
  }
  for (size_t i = 0; i < dims; ++i) {
    const int64_t value = (*values)[values->size() == 1 ? 0 : i];
    if (value < least) {
      return {ACLNN_ERR_PARAM_INVALID, text(name, " is ", value, "; it is ", least, " or more")};
    }
    (*out)[3 - dims + i] = value;
  }
  return Status::ok();
}

}  // namespace softnpu
