#include "acl/rt/stream.h"

#include <atomic>

#include "ascendcl/api.h"
#include "ascendcl/overflow_switch.h"
#include "base/text.h"
#include "base/wait.h"
#include "runtime/memory/address.h"
#include "runtime/memory/address_lock.h"
#include "runtime/memory/memory_blocks.h"
#include "runtime/stream/trace.h"

using softnpu::api;
using softnpu::Cost;
using softnpu::Device;
using softnpu::Event;
using softnpu::kNever;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::Stream;
using softnpu::StreamConfig;
using softnpu::text;

namespace {

constexpr uint32_t kFlags =
    ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_PERSISTENT | ACL_STREAM_HUGE | ACL_STREAM_CPU_SCHEDULE;

Status create(aclrtStream* out, StreamConfig config) {
  SOFTNPU_RETURN_IF_ERROR(require(out, "stream"));
  if (config.priority >= StreamConfig::kPriorities) {
    return {ACL_ERROR_INVALID_PARAM, text("a stream of priority ", config.priority, ": it is 0, the most urgent, to ",
                                          StreamConfig::kPriorities - 1)};
  }
  if ((config.flags & ~kFlags) != 0) {
    return {ACL_ERROR_INVALID_PARAM, text("the stream flags ", config.flags, " hold unknown ones")};
  }
  Stream* result = nullptr;
  SOFTNPU_RETURN_IF_ERROR(Process::get().create_stream(config, &result));
  *out = result;
  return Status::ok();
}

Status set_failure_mode(Stream& stream, uint64_t mode) {
  if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
    return {ACL_ERROR_INVALID_PARAM, text("the failure mode ", mode, " does not exist: it is 0 or 1")};
  }
  stream.stop_on_failure(mode == ACL_STOP_ON_FAILURE);
  return Status::ok();
}

bool fits(uint64_t found, uint64_t value, uint32_t flag) {
  switch (flag) {
    case ACL_STREAM_WAIT_VALUE_GEQ: return found >= value;
    case ACL_STREAM_WAIT_VALUE_EQ: return found == value;
    case ACL_STREAM_WAIT_VALUE_AND: return (found & value) != 0;
    default: return (~(found | value)) != 0;  // ACL_STREAM_WAIT_VALUE_NOR
  }
}

// Checks 64 bits of device memory that streams write or wait for, and returns their address for the host.
Status resolve_value(void* address, std::atomic_ref<uint64_t>::value_type** out) {
  SOFTNPU_RETURN_IF_ERROR(require(address, "devAddr"));
  softnpu::Location location;
  SOFTNPU_RETURN_IF_ERROR(softnpu::resolve(Process::get(), "the value", address, sizeof(uint64_t), &location));
  if (!location.on_device) return {ACL_ERROR_RT_PARAM_INVALID, text(address, " is not a device address")};
  if (reinterpret_cast<uintptr_t>(address) % alignof(uint64_t) != 0) {
    return {ACL_ERROR_RT_ADDR_UNALIGNED, text("the value at ", address, " is not aligned to 8 bytes")};
  }
  *out = reinterpret_cast<uint64_t*>(location.kernel);
  return Status::ok();
}

// `timeout` in milliseconds; negative: none.
Status synchronize(aclrtStream stream, int32_t timeout) {
  std::shared_ptr<Stream> target;
  SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
  return target->synchronize(std::chrono::milliseconds(timeout));
}

}  // namespace

aclError aclrtCreateStream(aclrtStream* stream) {
  return api("aclrtCreateStream", [&] { return create(stream, {}); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return api("aclrtCreateStreamWithConfig", [&] { return create(stream, {priority, flag}); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return api("aclrtDestroyStream", [&] { return Process::get().destroy_stream(stream, false); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return api("aclrtDestroyStreamForce", [&] { return Process::get().destroy_stream(stream, true); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return api("aclrtSynchronizeStreamWithTimeout", [&] {
    const softnpu::trace::Call call("aclrtSynchronizeStreamWithTimeout");
    return synchronize(stream, timeout);
  });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return api("aclrtSynchronizeStream", [&] {
    const softnpu::trace::Call call("aclrtSynchronizeStream");
    return synchronize(stream, -1);
  });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return api("aclrtStreamQuery", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(status, "status"));
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    SOFTNPU_RETURN_IF_ERROR(target->refuse_in_capture("a query of the host", "ask before the capture or after it"));
    *status = target->idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return Status::ok();
  });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  return api("aclrtStreamGetId", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(streamId, "streamId"));
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    *streamId = static_cast<int32_t>(target->id());
    return Status::ok();
  });
}

aclError aclrtStreamAbort(aclrtStream stream) {
  return api("aclrtStreamAbort", [&] {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    target->abandon({ACL_ERROR_RT_STREAM_ABORT, text("aclrtStreamAbort dropped work of stream ", target->id())});
    return Status::ok();
  });
}

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
  return api("aclrtDeviceTaskAbort", [&]() -> Status {
    using Clock = std::chrono::steady_clock;
    Device* device = Process::get().live_device(deviceId);
    if (device == nullptr) return {ACL_ERROR_RT_INVALID_DEVICEID, text("device ", deviceId, " is not set up")};
    const auto end = timeout == 0 ? kNever : Clock::now() + std::chrono::milliseconds(timeout);
    if (device->abort(end)) return Status::ok();
    return {ACL_ERROR_RT_WAIT_TIMEOUT, text("a task of device ", deviceId, " still runs after ", timeout, " ms")};
  });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  return api("aclrtSetStreamFailureMode", [&] {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    return set_failure_mode(*target, mode);
  });
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value) {
  return api("aclrtSetStreamAttribute", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(value, "value"));
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    switch (stmAttrType) {
      case ACL_STREAM_ATTR_FAILURE_MODE: return set_failure_mode(*target, value->failureMode);
      case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK: softnpu::set_overflow_switch(*target, value->overflowSwitch); break;
      case ACL_STREAM_ATTR_USER_CUSTOM_TAG: target->tag() = value->userCustomTag; break;
      case ACL_STREAM_ATTR_CACHE_OP_IFNO: break;  // profiler cache of operators; there is no profiler yet
      default:
        return {ACL_ERROR_INVALID_PARAM,
                text("the stream attribute ", static_cast<int>(stmAttrType), " does not exist")};
    }
    return Status::ok();
  });
}

aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return api("aclrtValueWrite", [&]() -> Status {
    if (flag != 0) return {ACL_ERROR_INVALID_PARAM, text("aclrtValueWrite with the flag ", flag, ": it is 0")};
    uint64_t* at = nullptr;
    SOFTNPU_RETURN_IF_ERROR(resolve_value(devAddr, &at));
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    if (softnpu::Device* device = Process::get().device_of(devAddr); device != nullptr) {
      device->write_epochs().bump(devAddr, sizeof value);
      softnpu::MemoryBlocks::get().written(devAddr, sizeof value);
    }
    const auto write = [devAddr, value] {
      const softnpu::AddressHold hold;  // the memory may have been freed since it was queued
      uint64_t* now = nullptr;
      SOFTNPU_RETURN_IF_ERROR(resolve_value(devAddr, &now));
      std::atomic_ref(*now).store(value, std::memory_order_release);
      return Status::ok();
    };
    const softnpuRange written{devAddr, sizeof value};
    return target->submit("aclrtValueWrite", Cost::kSmall, write, {nullptr, 0, {&written, 1}});
  });
}

aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return api("aclrtValueWait", [&]() -> Status {
    if (flag > ACL_STREAM_WAIT_VALUE_NOR) {
      return {ACL_ERROR_INVALID_PARAM, text("aclrtValueWait with the flag ", flag, ": it is 0 to 3")};
    }
    uint64_t* at = nullptr;
    SOFTNPU_RETURN_IF_ERROR(resolve_value(devAddr, &at));
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    auto done = std::make_shared<Event>();
    const uint64_t generation = done->begin_record();
    // The stream owns `done` while it waits. The memory may be freed meanwhile, which ends the wait with an error.
    auto look = [devAddr, value, flag, generation, weak = std::weak_ptr(done), stream = std::weak_ptr(target)] {
      auto waiting = weak.lock();
      if (!waiting) return true;
      const softnpu::AddressHold hold;
      uint64_t* now = nullptr;
      if (Status status = resolve_value(devAddr, &now); !status.is_ok()) {
        if (auto alive = stream.lock()) alive->keep_error("aclrtValueWait", status);
      } else if (!fits(std::atomic_ref(*now).load(std::memory_order_acquire), value, flag)) {
        return false;
      }
      waiting->complete(generation);
      return true;
    };
    auto start = [look = std::move(look)] {
      if (!look()) Process::get().poller().watch(look);
      return Status::ok();
    };
    return target->gate("aclrtValueWait", std::move(start), std::move(done));
  });
}

aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  return api("aclrtCmoAsync", [&]() -> Status {
    if (cmoType < ACL_RT_CMO_TYPE_PREFETCH || cmoType > ACL_RT_CMO_TYPE_FLUSH) {
      return {ACL_ERROR_INVALID_PARAM, text("aclrtCmoType ", static_cast<int>(cmoType), " does not exist")};
    }
    softnpu::Location location;
    SOFTNPU_RETURN_IF_ERROR(softnpu::resolve(Process::get(), "the range", src, size, &location));
    std::shared_ptr<Stream> target;
    return Process::get().stream(stream, &target);
  });
}
