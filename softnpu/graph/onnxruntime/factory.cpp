#include "graph/onnxruntime/factory.h"

#include <atomic>
#include <cstdio>
#include <string_view>

#include "base/text.h"
#include "graph/onnxruntime/provider.h"

namespace softnpu::graph::ort {
namespace {

class Factory : public OrtEpFactory {
 public:
  explicit Factory(const Api& api);

  const Api& api() const { return api_; }
  size_t providers() const { return providers_; }

 private:
  static Factory* of(OrtEpFactory* factory) { return static_cast<Factory*>(factory); }

  Api api_;
  std::atomic<size_t> providers_ = 0;
};

Factory::Factory(const Api& api) : OrtEpFactory{}, api_(api) {
  version = kApiVersion;
  get_name = [](const OrtEpFactory*) { return kProviderName; };
  get_vendor = [](const OrtEpFactory*) { return "softnpu"; };
  get_vendor_id = [](const OrtEpFactory*) { return uint32_t{0}; };
  get_version = [](const OrtEpFactory*) { return "1.0.0"; };
  is_stream_aware = [](const OrtEpFactory*) { return false; };
  // Null: tensors are in the CPU's memory, where nothing has to be copied and no stream orders anything.
  create_allocator = [](OrtEpFactory*, const OrtMemoryInfo*, const OrtKeyValuePairs*,
                        OrtAllocator** out) -> OrtStatus* {
    *out = nullptr;
    return nullptr;
  };
  release_allocator = [](OrtEpFactory*, OrtAllocator*) {};
  create_data_transfer = [](OrtEpFactory*, OrtDataTransferImpl** out) -> OrtStatus* {
    *out = nullptr;
    return nullptr;
  };
  create_stream = [](OrtEpFactory*, const OrtMemoryDevice*, const OrtKeyValuePairs*,
                     OrtSyncStreamImpl** out) -> OrtStatus* {
    *out = nullptr;
    return nullptr;
  };
  get_supported_devices = [](OrtEpFactory* self, const OrtHardwareDevice* const* devices, size_t count,
                             OrtEpDevice** out, size_t max, size_t* found) -> OrtStatus* {
    const Api& api = of(self)->api_;
    return api.guarded([&] {
      *found = 0;
      for (size_t i = 0; i < count && *found < max; ++i) {
        if (api(device_type)(devices[i]) != kCpu) continue;
        api.check(api.providers()(create_ep_device)(self, devices[i], nullptr, nullptr, &out[*found]));
        ++*found;
      }
    });
  };
  create_ep = [](OrtEpFactory* self, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                 const OrtSessionOptions* options, const OrtLogger* logger, OrtEp** out) -> OrtStatus* {
    return of(self)->api_.guarded([&] {
      *out = std::make_unique<Provider>(of(self)->api_, options, logger).release();
      ++of(self)->providers_;
    });
  };
  release_ep = [](OrtEpFactory* self, OrtEp* ep) {
    std::unique_ptr<Provider>(static_cast<Provider*>(ep)).reset();
    --of(self)->providers_;
  };
}

}  // namespace

OrtStatus* create_factory(const OrtApiBase* base, OrtEpFactory** out) {
  int major = 0;
  int minor = 0;
  const char* version = base->get_version_string();
  if (std::sscanf(version, "%d.%d", &major, &minor) != 2 || major < 1 || (major == 1 && minor < 23)) {
    const std::string reason = text(kProviderName, " needs ONNX Runtime 1.23 or newer, and this is ", version);
    return Api(base->get_api(1), minor)(create_status)(kFail, reason.c_str());
  }
  const Api api(base->get_api(kApiVersion), minor);
  return api.guarded([&] { *out = std::make_unique<Factory>(api).release(); });
}

OrtStatus* release_factory(OrtEpFactory* factory) {
  auto* own = static_cast<Factory*>(factory);
  if (own->providers() > 0) {
    const std::string reason =
        text(kProviderName, ": ", own->providers(), " sessions use it: delete them before it is unregistered");
    return own->api()(create_status)(kFail, reason.c_str());
  }
  std::unique_ptr<Factory>(own).reset();
  return nullptr;
}

}  // namespace softnpu::graph::ort
