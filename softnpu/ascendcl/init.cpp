#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "acl/acl.h"
#include "ascendcl/api.h"
#include "base/log.h"
#include "base/text.h"
#include "runtime/config.h"
#include "softnpu/profile.h"
#include "softnpu/softnpu.h"

using softnpu::api;
using softnpu::Process;
using softnpu::Status;

namespace {

// The CANN release whose interface this library implements; programs compare it with the one that they need.
constexpr std::array<const char*, 4> kCannVersion = {"8", "5", "0", "0"};

std::string short_version() { return softnpu::text(kCannVersion[0], ".", kCannVersion[1], ".", kCannVersion[2]); }

template <size_t N>
void put(char (&field)[N], std::string_view text) {
  size_t length = std::min(text.size(), N - 1);
  std::memcpy(field, text.data(), length);
  field[length] = '\0';
}

}  // namespace

// Nothing in the file concerns a software NPU; that it cannot be read is an error as on every NPU.
aclError aclInit(const char* configPath) {
  return api("aclInit", [&] {
    if (configPath != nullptr && *configPath != '\0' && !std::ifstream(configPath).is_open()) {
      return Status(ACL_ERROR_INVALID_FILE, softnpu::text("the configuration file ", configPath, " cannot be read"));
    }
    SOFTNPU_RETURN_IF_ERROR(Process::get().initialize());
    (void)softnpuProfileFromEnvironment();  // a folder that is missing is logged, and ends no program
    return Status::ok();
  });
}

aclError aclFinalize() {
  return api("aclFinalize", [] { return Process::get().finalize(); });
}

aclError aclFinalizeReference(uint64_t* refCount) {
  return api("aclFinalizeReference", [&] { return Process::get().finalize_reference(refCount); });
}

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  return api("aclrtGetVersion", [&] {
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(majorVersion, "majorVersion"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(minorVersion, "minorVersion"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(patchVersion, "patchVersion"));
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return Status::ok();
  });
}

aclError aclsysGetCANNVersion(aclCANNPackageName, aclCANNPackageVersion* version) {
  return api("aclsysGetCANNVersion", [&] {
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(version, "version"));
    *version = {};
    put(version->version, short_version());
    put(version->majorVersion, kCannVersion[0]);
    put(version->minorVersion, kCannVersion[1]);
    put(version->releaseVersion, kCannVersion[2]);
    put(version->patchVersion, kCannVersion[3]);
    return Status::ok();
  });
}

// All packages have this library's version.
aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
  return api("aclsysGetVersionStr", [&] {
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(pkgName, "pkgName"));
    SOFTNPU_RETURN_IF_ERROR(softnpu::require(versionStr, "versionStr"));
    std::string version = short_version();
    std::memcpy(versionStr, version.c_str(), version.size() + 1);
    return Status::ok();
  });
}

const char* aclrtGetSocName() {
  return softnpu::guarded(static_cast<const char*>(nullptr), [] { return softnpu::config().soc_name.c_str(); });
}

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line, const char* fmt, ...) {
  if (fmt == nullptr || !softnpu::log_enabled(logLevel, "application")) return;
  std::array<char, 1024> message{};
  va_list arguments;
  va_start(arguments, fmt);
  std::vsnprintf(message.data(), message.size(), fmt, arguments);
  va_end(arguments);
  softnpu::guarded([&] {
    softnpu::log(logLevel, "application",
                 softnpu::text(file ? file : "", ":", line, " ", func ? func : "", ": ", message.data()));
  });
}

size_t aclDataTypeSize(aclDataType dataType) {
  switch (dataType) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0: return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16: return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32: return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
    case ACL_COMPLEX64: return 8;
    case ACL_COMPLEX128: return 16;
    default: return 0;  // sub-byte types and strings have no size in whole bytes
  }
}

const char* softnpuVersion(void) { return "softnpu " SOFTNPU_VERSION; }
