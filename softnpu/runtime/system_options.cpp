#include "runtime/system_options.h"

#include "base/text.h"

namespace softnpu {
namespace {

Status unknown(aclSysParamOpt option) {
  return {ACL_ERROR_INVALID_PARAM, text("aclSysParamOpt ", static_cast<int>(option), " does not exist: it is 0 to 2")};
}

}  // namespace

SystemOptions::SystemOptions(const SystemOptions& other) {
  for (size_t i = 0; i < kCount; ++i) values_[i] = other.values_[i].load();
}

Status SystemOptions::get(aclSysParamOpt option, int64_t* value) const {
  const auto index = static_cast<size_t>(option);
  if (index >= kCount) return unknown(option);
  *value = values_[index].load();
  return Status::ok();
}

Status SystemOptions::set(aclSysParamOpt option, int64_t value) {
  const auto index = static_cast<size_t>(option);
  if (index >= kCount) return unknown(option);
  values_[index].store(value);
  return Status::ok();
}

}  // namespace softnpu
