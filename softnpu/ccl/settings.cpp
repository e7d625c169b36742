#include "ccl/settings.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/text.h"

namespace softnpu::ccl {
namespace {

Status read_seconds(const char* name, Settings::Seconds* out) {
  constexpr int kLongest = 2147483;  // seconds; in milliseconds it fits 32 bits
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return Status::ok();
  int seconds = -1;
  const char* end = value + std::strlen(value);
  const auto result = std::from_chars(value, end, seconds);
  if (result.ec != std::errc() || result.ptr != end || seconds < 0 || seconds > kLongest) {
    return {ACL_ERROR_INVALID_PARAM, text(name, "='", value, "': it takes seconds, from 0 to ", kLongest)};
  }
  *out = Settings::Seconds(seconds);
  return Status::ok();
}

}  // namespace

Status read_settings(Settings* out) {
  SOFTNPU_RETURN_IF_ERROR(read_seconds("HCCL_CONNECT_TIMEOUT", &out->connect));
  SOFTNPU_RETURN_IF_ERROR(read_seconds("HCCL_EXEC_TIMEOUT", &out->execute));
  if (out->execute.count() == 0) out->execute = Settings::kForever;
  return Status::ok();
}

}  // namespace softnpu::ccl
