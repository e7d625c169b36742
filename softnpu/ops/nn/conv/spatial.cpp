#include "ops/nn/conv/spatial.h"

#include <limits>

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
    constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
    if (value > kMax) return {ACLNN_ERR_PARAM_INVALID, text(name, " is ", value, "; it is ", kMax, " or less")};
    (*out)[3 - dims + i] = value;
  }
  return Status::ok();
}

Status count_windows(int64_t size, const WindowLine& line, bool ceil_mode, int64_t* out) {
  *out = 0;
  const Checked padded = checked(size) + checked(line.padding) * 2;
  int64_t room = 0;  // the number of possible offsets of a window, minus 1
  SOFTNPU_RETURN_IF_ERROR(fit(padded - line.extent(), "the room of windows", &room));
  int64_t reach = 0;
  SOFTNPU_RETURN_IF_ERROR(fit(checked(room) + (ceil_mode ? line.stride - 1 : 0), "the room of windows", &reach));
  if (reach < 0) return Status::ok();
  const int64_t count = reach / line.stride + 1;
  // The last window must start inside the image or its left padding.
  *out = ceil_mode && (count - 1) * line.stride >= size + line.padding ? count - 1 : count;
  return Status::ok();
}

}  // namespace softnpu
