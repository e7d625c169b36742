// The device's timeline in torch.profiler: a Kineto plug-in that turns a recording of device work into activities, each
// linked with the operator that started it.

#define USE_KINETO  // torch's wheels are built with it, but no header defines it

#include <kineto/libkineto.h>
#include <kineto/output_base.h>
#include <torch/csrc/profiler/standalone/privateuse1_profiler.h>

#include <algorithm>
#include <iterator>

#include "core/device.h"
#include "core/trace.h"

namespace torch_npu {
namespace {

using libkineto::ActivityType;

class Session final : public libkineto::IActivityProfilerSession {
 public:
  void start() override {
    trace::start();
    status_ = libkineto::TraceStatus::RECORDING;
  }

  void stop() override {
    recording_ = trace::stop();
    status_ = libkineto::TraceStatus::PROCESSING;
  }

  std::vector<std::string> errors() override { return recording_.errors; }

  void processTrace(libkineto::ActivityLogger& logger) override { processTrace(logger, nullptr, 0, 0); }

  // The logger stores pointers: the activities are in the buffer that getTraceBuffer() returns.
  void processTrace(libkineto::ActivityLogger& logger, libkineto::getLinkedActivityCallback operator_of, int64_t,
                    int64_t) override {
    for (const trace::Activity& work : recording_.activities) {
      buffer_->emplace_activity(buffer_->span, type_of(work.kind), work.name);
      auto& activity = *buffer_->activities.back();
      activity.startTime = work.start_ns;
      activity.endTime = work.end_ns;
      activity.device = work.stream.device_index();
      activity.resource = static_cast<int32_t>(work.stream.id());
      activity.id = static_cast<int32_t>(work.correlation);
      activity.addMetadataQuoted("stream", std::to_string(work.stream.id()));
      if (work.task != 0) activity.addMetadataQuoted("task", std::to_string(work.task));
      if (operator_of && work.correlation != 0) activity.linked = operator_of(activity.id);
      logger.handleActivity(activity);
    }
  }

  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override {
    return std::make_unique<libkineto::DeviceInfo>(libkineto::DeviceInfo{0, libkineto::kExceedMaxPid, "NPU", "NPU"});
  }

  std::vector<libkineto::ResourceInfo> getResourceInfos() override {
    std::vector<c10::Stream> streams;
    for (const trace::Activity& work : recording_.activities) {
      if (std::find(streams.begin(), streams.end(), work.stream) == streams.end()) streams.push_back(work.stream);
    }
    std::vector<libkineto::ResourceInfo> infos;
    for (const c10::Stream& stream : streams) {
      infos.push_back({stream.id(), stream.id(), stream.device_index(), "stream " + std::to_string(stream.id())});
    }
    return infos;
  }

  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override { return std::move(buffer_); }

  void pushCorrelationId(uint64_t id) override { trace::push_correlation(id); }
  void popCorrelationId() override { trace::pop_correlation(); }

 private:
  static ActivityType type_of(trace::Kind kind) {
    return kind == trace::Kind::kCopy ? ActivityType::GPU_MEMCPY : ActivityType::CONCURRENT_KERNEL;
  }

  trace::Recording recording_;
  std::unique_ptr<libkineto::CpuTraceBuffer> buffer_ = std::make_unique<libkineto::CpuTraceBuffer>();
};

class Profiler final : public libkineto::IActivityProfiler {
 public:
  const std::string& name() const override {
    static const std::string npu = "npu";
    return npu;
  }

  const std::set<ActivityType>& availableActivities() const override {
    static const std::set<ActivityType> kinds{ActivityType::CONCURRENT_KERNEL, ActivityType::GPU_MEMCPY};
    return kinds;
  }

  // No session, and so no cost, unless the device's activities are requested.
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(const std::set<ActivityType>& asked,
                                                                 const libkineto::Config&) override {
    const auto& own = availableActivities();
    const bool wanted = std::any_of(own.begin(), own.end(), [&](ActivityType kind) { return asked.contains(kind); });
    return wanted && device_count() > 0 ? std::make_unique<Session>() : nullptr;
  }

  std::unique_ptr<libkineto::IActivityProfilerSession> configure(int64_t, int64_t, const std::set<ActivityType>& asked,
                                                                 const libkineto::Config& config) override {
    return configure(asked, config);
  }
};

REGISTER_PRIVATEUSE1_PROFILER(Profiler);

}  // namespace
}  // namespace torch_npu
