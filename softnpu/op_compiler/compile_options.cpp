// Options of the operator compiler. They are stored and returned; only those of the cache of compiled operators have an
// effect.

#include "op_compiler/compile_options.h"

#include <array>
#include <cstring>
#include <mutex>
#include <string>

#include "acl/acl_op_compiler.h"
#include "base/border.h"
#include "base/no_destroy.h"
#include "base/text.h"

using softnpu::api;
using softnpu::require;
using softnpu::Status;

namespace {

constexpr size_t kOptions = ACL_OP_DEBUG_OPTION + 1;

// An option that was not set is empty: the compiler decides. Only ACL_OP_JIT_COMPILE has a default.
struct Options {
  Options() { values[ACL_OP_JIT_COMPILE] = "disable"; }

  std::mutex mutex;
  std::array<std::string, kOptions> values;
};

Options& options() {
  static softnpu::NoDestroy<Options> value;
  return value.get();
}

Status require_option(aclCompileOpt opt) {
  if (opt >= 0 && static_cast<size_t>(opt) < kOptions) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, softnpu::text("there is no compile option ", static_cast<int>(opt))};
}

Status read(aclCompileOpt opt, std::string* out) {
  SOFTNPU_RETURN_IF_ERROR(require_option(opt));
  std::lock_guard lock(options().mutex);
  *out = options().values[opt];
  return Status::ok();
}

}  // namespace

softnpu::CacheFiles softnpu::compile_cache_files() {
  std::lock_guard lock(options().mutex);
  const std::string& mode = options().values[ACL_OP_COMPILER_CACHE_MODE];
  if (mode != "enable" && mode != "force") return {};
  return {options().values[ACL_OP_COMPILER_CACHE_DIR], mode == "force"};
}

aclError aclSetCompileopt(aclCompileOpt opt, const char* value) {
  return api("aclSetCompileopt", [&] {
    SOFTNPU_RETURN_IF_ERROR(require_option(opt));
    SOFTNPU_RETURN_IF_ERROR(require(value, "value"));
    std::lock_guard lock(options().mutex);
    options().values[opt] = value;
    return Status::ok();
  });
}

// 0 if there is no such option.
size_t aclGetCompileoptSize(aclCompileOpt opt) {
  size_t size = 0;
  (void)api("aclGetCompileoptSize", [&] {
    std::string value;
    SOFTNPU_RETURN_IF_ERROR(read(opt, &value));
    size = value.size() + 1;
    return Status::ok();
  });
  return size;
}

aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length) {
  return api("aclGetCompileopt", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(value, "value"));
    std::string found;
    SOFTNPU_RETURN_IF_ERROR(read(opt, &found));
    if (length <= found.size()) {
      return {ACL_ERROR_INVALID_PARAM,
              softnpu::text("the option takes ", found.size() + 1, " bytes; there is room for ", length)};
    }
    std::memcpy(value, found.c_str(), found.size() + 1);
    return Status::ok();
  });
}

// Selects how operators of changing shapes are compiled: not stored, as it has no effect.
aclError aclopSetCompileFlag(aclOpCompileFlag flag) {
  return api("aclopSetCompileFlag", [&]() -> Status {
    if (flag == ACL_OP_COMPILE_DEFAULT || flag == ACL_OP_COMPILE_FUZZ) return Status::ok();
    return {ACL_ERROR_INVALID_PARAM, softnpu::text("there is no compile flag ", static_cast<int>(flag))};
  });
}
