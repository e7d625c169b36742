#include "dvpp/channel.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "acl/acl.h"
#include "base/border.h"
#include "base/no_destroy.h"
#include "base/text.h"
#include "softnpu/launch.h"

using softnpu::api;
using softnpu::areas;
using softnpu::Handles;
using softnpu::jpeg_configs;
using softnpu::NoDestroy;
using softnpu::require;
using softnpu::resize_configs;
using softnpu::Status;
using softnpu::text;

namespace {

constexpr uint32_t kAllModes = DVPP_CHNMODE_VPC | DVPP_CHNMODE_JPEGD | DVPP_CHNMODE_JPEGE | DVPP_CHNMODE_PNGD;

Handles<acldvppChannelDesc>& channels() {
  static NoDestroy<Handles<acldvppChannelDesc>> instance("description of a channel");
  return instance.get();
}

// What a queued task keeps.
struct Work {
  std::function<Status()> run;
  std::shared_ptr<acldvppPicDesc> result;
};

aclError run_work(void* state, char* message, size_t size) {
  const auto& work = *static_cast<const Work*>(state);
  Status status = Status::ok();
  try {
    status = work.run();
  } catch (const std::exception& e) {
    status = {ACL_ERROR_FAILURE, e.what()};
  }
  if (work.result != nullptr) work.result->ret_code = static_cast<uint32_t>(status.code());
  if (status.is_ok()) return ACL_SUCCESS;
  const size_t length = std::min(size - 1, status.message().size());
  std::memcpy(message, status.message().data(), length);
  message[length] = '\0';
  return status.code();
}

// The handles come from a function, so that they are made within the guard.
template <typename T>
T* make(const char* function, Handles<T>& (*handles)(), T value) {
  T* created = nullptr;
  (void)api(function, [&] {
    created = handles().add(std::make_shared<T>(std::move(value)));
    return Status::ok();
  });
  return created;
}

aclError set_side(const char* function, const acldvppRoiConfig* config, uint32_t acldvppRoiConfig::*side,
                  uint32_t value) {
  return api(function, [&] {
    std::shared_ptr<acldvppRoiConfig> area;
    SOFTNPU_RETURN_IF_ERROR(areas().find(config, &area));
    (*area).*side = value;
    return Status::ok();
  });
}

Status set_mode(acldvppChannelDesc* channel, uint32_t mode) {
  if (mode == 0 || (mode & ~kAllModes) != 0) {
    return {ACL_ERROR_INVALID_PARAM, text("the mode ", mode, " is no sum of 1 (VPC), 2 (JPEGD), 4 (JPEGE), 8 (PNGD)")};
  }
  channel->mode = mode;
  return Status::ok();
}

}  // namespace

namespace softnpu {

Handles<acldvppRoiConfig>& areas() {
  static NoDestroy<Handles<acldvppRoiConfig>> instance("area");
  return instance.get();
}
Handles<acldvppResizeConfig>& resize_configs() {
  static NoDestroy<Handles<acldvppResizeConfig>> instance("configuration of a resize");
  return instance.get();
}
Handles<acldvppJpegeConfig>& jpeg_configs() {
  static NoDestroy<Handles<acldvppJpegeConfig>> instance("configuration of JPEG");
  return instance.get();
}

Status find_channel(const acldvppChannelDesc* handle, uint32_t mode, std::shared_ptr<acldvppChannelDesc>* out) {
  SOFTNPU_RETURN_IF_ERROR(channels().find(handle, out));
  if (!(*out)->is_created) {
    return {ACL_ERROR_INVALID_PARAM, "the channel does not exist: call acldvppCreateChannel first"};
  }
  if (((*out)->mode & mode) != 0) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM,
          text("the channel has the mode ", (*out)->mode.load(), ", and this work needs ", mode)};
}

Status launch_picture_work(const char* name, aclrtStream stream, std::function<Status()> work,
                           std::shared_ptr<acldvppPicDesc> result, const void* written, size_t bytes) {
  auto state = std::make_unique<Work>(Work{std::move(work), std::move(result)});
  const softnpuRange range{written, bytes};
  const softnpuTask task{name,
                         SOFTNPU_COST_LARGE,
                         &run_work,
                         [](void* opaque) { std::unique_ptr<Work>(static_cast<Work*>(opaque)).reset(); },
                         state.release(),
                         nullptr,
                         &range,
                         bytes == 0 ? size_t{0} : size_t{1}};
  const aclError code = softnpuLaunch(stream, &task);
  if (code == ACL_SUCCESS) return Status::ok();
  const char* reason = aclGetRecentErrMsg();
  return {code, reason == nullptr ? "the launch failed" : reason};
}

}  // namespace softnpu

acldvppChannelDesc* acldvppCreateChannelDesc() {
  acldvppChannelDesc* created = nullptr;
  (void)api("acldvppCreateChannelDesc", [&] {
    created = channels().add(std::make_shared<acldvppChannelDesc>());
    return Status::ok();
  });
  return created;
}

aclError acldvppDestroyChannelDesc(acldvppChannelDesc* channelDesc) {
  return api("acldvppDestroyChannelDesc", [&] { return channels().remove(channelDesc); });
}

aclError acldvppCreateChannel(acldvppChannelDesc* channelDesc) {
  return api("acldvppCreateChannel", [&]() -> Status {
    static std::atomic<uint64_t> last{0};
    std::shared_ptr<acldvppChannelDesc> channel;
    SOFTNPU_RETURN_IF_ERROR(channels().find(channelDesc, &channel));
    aclrtContext context = nullptr;
    if (const aclError code = aclrtGetCurrentContext(&context); code != ACL_SUCCESS) {
      return {code, "this thread has no device: call aclrtSetDevice first"};
    }
    if (channel->is_created.exchange(true)) return {ACL_ERROR_INVALID_PARAM, "the channel was created before"};
    channel->id = ++last;
    return Status::ok();
  });
}

aclError acldvppDestroyChannel(acldvppChannelDesc* channelDesc) {
  return api("acldvppDestroyChannel", [&]() -> Status {
    std::shared_ptr<acldvppChannelDesc> channel;
    SOFTNPU_RETURN_IF_ERROR(channels().find(channelDesc, &channel));
    if (!channel->is_created.exchange(false)) return {ACL_ERROR_INVALID_PARAM, "the channel does not exist"};
    return Status::ok();
  });
}

uint64_t acldvppGetChannelDescChannelId(const acldvppChannelDesc* channelDesc) {
  uint64_t id = 0;
  (void)api("acldvppGetChannelDescChannelId", [&] {
    std::shared_ptr<acldvppChannelDesc> channel;
    SOFTNPU_RETURN_IF_ERROR(channels().find(channelDesc, &channel));
    id = channel->id;
    return Status::ok();
  });
  return id;
}

aclError acldvppSetChannelDescMode(acldvppChannelDesc* channelDesc, uint32_t mode) {
  return api("acldvppSetChannelDescMode", [&] {
    std::shared_ptr<acldvppChannelDesc> channel;
    SOFTNPU_RETURN_IF_ERROR(channels().find(channelDesc, &channel));
    return set_mode(channel.get(), mode);
  });
}

aclError acldvppSetChannelDescParam(acldvppChannelDesc* channelDesc, acldvppChannelDescParamType paramType,
                                    size_t length, const void* param) {
  return api("acldvppSetChannelDescParam", [&]() -> Status {
    std::shared_ptr<acldvppChannelDesc> channel;
    SOFTNPU_RETURN_IF_ERROR(channels().find(channelDesc, &channel));
    SOFTNPU_RETURN_IF_ERROR(require(param, "param"));
    uint32_t value = 0;
    if (length != sizeof value) return {ACL_ERROR_INVALID_PARAM, text("a parameter of ", length, " bytes, not 4")};
    std::memcpy(&value, param, sizeof value);
    if (paramType == ACL_DVPP_MODE_UINT32) return set_mode(channel.get(), value);
    if (paramType != ACL_DVPP_CSC_MATRIX_UINT32) {
      return {ACL_ERROR_FEATURE_UNSUPPORTED,
              text("the parameter ", static_cast<int>(paramType), " is not implemented: 0 (matrix) and 1 (mode) are")};
    }
    if (value > ACL_DVPP_CSC_MATRIX_BT2020_NARROW) {
      return {ACL_ERROR_INVALID_PARAM, text("the matrix ", value, " does not exist")};
    }
    channel->csc_matrix = value;
    return Status::ok();
  });
}

aclError acldvppGetChannelDescParam(const acldvppChannelDesc* channelDesc, acldvppChannelDescParamType paramType,
                                    size_t length, size_t* paramRetSize, void* param) {
  return api("acldvppGetChannelDescParam", [&]() -> Status {
    std::shared_ptr<acldvppChannelDesc> channel;
    SOFTNPU_RETURN_IF_ERROR(channels().find(channelDesc, &channel));
    SOFTNPU_RETURN_IF_ERROR(require(param, "param"));
    SOFTNPU_RETURN_IF_ERROR(require(paramRetSize, "paramRetSize"));
    uint64_t value = channel->id;
    size_t bytes = sizeof value;
    if (paramType == ACL_DVPP_MODE_UINT32 || paramType == ACL_DVPP_CSC_MATRIX_UINT32) {
      value = paramType == ACL_DVPP_MODE_UINT32 ? channel->mode.load() : channel->csc_matrix.load();
      bytes = sizeof(uint32_t);
    } else if (paramType != ACL_DVPP_CHANNEL_ID_UINT64) {
      return {ACL_ERROR_FEATURE_UNSUPPORTED, text("the parameter ", static_cast<int>(paramType),
                                                  " is not implemented: 0 (matrix), 1 (mode) and 2 (id) are")};
    }
    if (length < bytes) return {ACL_ERROR_INVALID_PARAM, text("room for ", length, " of ", bytes, " bytes")};
    std::memcpy(param, &value, bytes);  // the lower half of a number in little-endian order
    *paramRetSize = bytes;
    return Status::ok();
  });
}

acldvppRoiConfig* acldvppCreateRoiConfig(uint32_t left, uint32_t right, uint32_t top, uint32_t bottom) {
  return make("acldvppCreateRoiConfig", areas, acldvppRoiConfig{left, right, top, bottom});
}
aclError acldvppDestroyRoiConfig(acldvppRoiConfig* roiConfig) {
  return api("acldvppDestroyRoiConfig", [&] { return areas().remove(roiConfig); });
}
aclError acldvppSetRoiConfigLeft(acldvppRoiConfig* config, uint32_t left) {
  return set_side("acldvppSetRoiConfigLeft", config, &acldvppRoiConfig::left, left);
}
aclError acldvppSetRoiConfigRight(acldvppRoiConfig* config, uint32_t right) {
  return set_side("acldvppSetRoiConfigRight", config, &acldvppRoiConfig::right, right);
}
aclError acldvppSetRoiConfigTop(acldvppRoiConfig* config, uint32_t top) {
  return set_side("acldvppSetRoiConfigTop", config, &acldvppRoiConfig::top, top);
}
aclError acldvppSetRoiConfigBottom(acldvppRoiConfig* config, uint32_t bottom) {
  return set_side("acldvppSetRoiConfigBottom", config, &acldvppRoiConfig::bottom, bottom);
}
aclError acldvppSetRoiConfig(acldvppRoiConfig* config, uint32_t left, uint32_t right, uint32_t top, uint32_t bottom) {
  return api("acldvppSetRoiConfig", [&] {
    std::shared_ptr<acldvppRoiConfig> area;
    SOFTNPU_RETURN_IF_ERROR(areas().find(config, &area));
    *area = {left, right, top, bottom};
    return Status::ok();
  });
}

acldvppResizeConfig* acldvppCreateResizeConfig() {
  return make("acldvppCreateResizeConfig", resize_configs, acldvppResizeConfig{});
}
aclError acldvppDestroyResizeConfig(acldvppResizeConfig* resizeConfig) {
  return api("acldvppDestroyResizeConfig", [&] { return resize_configs().remove(resizeConfig); });
}
aclError acldvppSetResizeConfigInterpolation(acldvppResizeConfig* resizeConfig, uint32_t interpolation) {
  return api("acldvppSetResizeConfigInterpolation", [&]() -> Status {
    std::shared_ptr<acldvppResizeConfig> config;
    SOFTNPU_RETURN_IF_ERROR(resize_configs().find(resizeConfig, &config));
    if (interpolation != 0) {
      return {ACL_ERROR_FEATURE_UNSUPPORTED,
              text("the interpolation ", interpolation, " is not implemented: 0, linear, is")};
    }
    config->interpolation = interpolation;
    return Status::ok();
  });
}
uint32_t acldvppGetResizeConfigInterpolation(const acldvppResizeConfig* resizeConfig) {
  uint32_t interpolation = 0;
  (void)api("acldvppGetResizeConfigInterpolation", [&] {
    std::shared_ptr<acldvppResizeConfig> config;
    SOFTNPU_RETURN_IF_ERROR(resize_configs().find(resizeConfig, &config));
    interpolation = config->interpolation;
    return Status::ok();
  });
  return interpolation;
}

acldvppJpegeConfig* acldvppCreateJpegeConfig() {
  return make("acldvppCreateJpegeConfig", jpeg_configs, acldvppJpegeConfig{});
}
aclError acldvppDestroyJpegeConfig(acldvppJpegeConfig* jpegeConfig) {
  return api("acldvppDestroyJpegeConfig", [&] { return jpeg_configs().remove(jpegeConfig); });
}
aclError acldvppSetJpegeConfigLevel(acldvppJpegeConfig* jpegeConfig, uint32_t level) {
  return api("acldvppSetJpegeConfigLevel", [&]() -> Status {
    std::shared_ptr<acldvppJpegeConfig> config;
    SOFTNPU_RETURN_IF_ERROR(jpeg_configs().find(jpegeConfig, &config));
    if (level == 0 || level > 100) return {ACL_ERROR_INVALID_PARAM, text("the quality ", level, ": it is 1 to 100")};
    config->level = level;
    return Status::ok();
  });
}
uint32_t acldvppGetJpegeConfigLevel(const acldvppJpegeConfig* jpegeConfig) {
  uint32_t level = 0;
  (void)api("acldvppGetJpegeConfigLevel", [&] {
    std::shared_ptr<acldvppJpegeConfig> config;
    SOFTNPU_RETURN_IF_ERROR(jpeg_configs().find(jpegeConfig, &config));
    level = config->level;
    return Status::ok();
  });
  return level;
}
