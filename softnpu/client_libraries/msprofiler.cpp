// libmsprofiler.so: functions of the profiler that programs look up there. libascendcl has the profiler.

#include "acl/acl_prof.h"
#include "base/border.h"
#include "softnpu/profile.h"

aclError aclprofWarmup(const aclprofConfig* profilerConfig) { return softnpuProfileWarmup(profilerConfig); }

aclError aclprofSetConfig(aclprofConfigType configType, const char* config, size_t configLength) {
  return softnpuProfileSet(configType, config, configLength);
}

aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream) {
  return softnpuProfileMark(msg, msgLen, stream);
}

// Devices that are set while a profile runs are recorded without being told.
aclError aclprofRegisterDeviceCallback() { return ACL_SUCCESS; }

namespace {

softnpu::Status no_features(size_t* featuresSize, void** featuresData) {
  SOFTNPU_RETURN_IF_ERROR(softnpu::require(featuresSize, "featuresSize"));
  SOFTNPU_RETURN_IF_ERROR(softnpu::require(featuresData, "featuresData"));
  *featuresSize = 0;
  *featuresData = nullptr;
  return softnpu::Status::ok();
}

}  // namespace

// None of the optional features: attributes of operators, the metrics MemoryAccess.
aclError aclprofGetSupportedFeaturesV2(size_t* featuresSize, void** featuresData) {
  return softnpu::api("aclprofGetSupportedFeaturesV2", [&] { return no_features(featuresSize, featuresData); });
}

aclError aclprofGetSupportedFeatures(size_t* featuresSize, void** featuresData) {
  return softnpu::api("aclprofGetSupportedFeatures", [&] { return no_features(featuresSize, featuresData); });
}
