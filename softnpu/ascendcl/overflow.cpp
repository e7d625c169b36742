// Saturation and the overflow flag of devices.

#include "softnpu/overflow.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "acl/rt/device.h"
#include "acl/rt/stream.h"
#include "ascendcl/api.h"
#include "ascendcl/overflow_switch.h"
#include "ascendcl/written.h"
#include "runtime/memory/address.h"
#include "runtime/memory/address_lock.h"

using softnpu::api;
using softnpu::Cost;
using softnpu::Device;
using softnpu::guarded;
using softnpu::Overflow;
using softnpu::Process;
using softnpu::require;
using softnpu::Status;
using softnpu::Stream;
using softnpu::text;

namespace {

Status device_of(void* stream, std::shared_ptr<Stream>* target, Device** device) {
  SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, target));
  *device = Process::get().live_device((*target)->device());
  return Status::ok();
}

// Where the host writes the status.
Status resolve_output(void* address, size_t size, char** kernel) {
  softnpu::Location location;
  SOFTNPU_RETURN_IF_ERROR(softnpu::resolve(Process::get(), "outputAddr", address, size, &location));
  if (!location.on_device) return {ACL_ERROR_RT_PARAM_INVALID, text(address, " is not a device address")};
  *kernel = location.kernel;
  return Status::ok();
}

}  // namespace

namespace softnpu {

void set_overflow_switch(Stream& stream, uint32_t flag) {
  const uint32_t before = stream.overflow_switch().exchange(flag);
  if (before == 0 && flag != 0) Overflow::add_watcher();
  if (before != 0 && flag == 0) Overflow::remove_watcher();
}

}  // namespace softnpu

// Of the thread's device; on a thread without one, of all devices, also of those that are set up later: frameworks set
// the mode before aclInit.
aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  return api("aclrtSetDeviceSatMode", [&]() -> Status {
    if (mode != ACL_RT_OVERFLOW_MODE_INFNAN && mode != ACL_RT_OVERFLOW_MODE_SATURATION) {
      return {ACL_ERROR_INVALID_PARAM, text("overflow mode ", static_cast<int>(mode), " does not exist")};
    }
    SOFTNPU_RETURN_IF_ERROR(Process::get().check_usable());
    const bool saturates = mode == ACL_RT_OVERFLOW_MODE_SATURATION;
    Device* device = nullptr;
    if (softnpu::current_device(&device).is_ok()) {
      device->overflow().set_saturating(saturates);
    } else {
      Process::get().set_saturating(saturates);
    }
    return Status::ok();
  });
}

// The first word is 1 if anything overflowed, the others are 0.
aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize, aclrtStream stream) {
  return api("aclrtGetOverflowStatus", [&]() -> Status {
    SOFTNPU_RETURN_IF_ERROR(require(outputAddr, "outputAddr"));
    char* kernel = nullptr;
    SOFTNPU_RETURN_IF_ERROR(resolve_output(outputAddr, outputSize, &kernel));
    std::shared_ptr<Stream> target;
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(device_of(stream, &target, &device));
    softnpu::raise_epoch(outputAddr, outputSize);
    const softnpuRange written{outputAddr, outputSize};
    softnpu::TaskTraits traits;
    traits.written = {&written, 1};
    return target->submit(
        "aclrtGetOverflowStatus", Cost::kSmall,
        [outputAddr, outputSize, device] {
          const softnpu::AddressHold hold;  // the memory may have been freed since it was queued
          char* now = nullptr;
          SOFTNPU_RETURN_IF_ERROR(resolve_output(outputAddr, outputSize, &now));
          std::fill_n(now, outputSize, 0);
          const int32_t flag = device->overflow().is_raised() ? 1 : 0;
          std::memcpy(now, &flag, std::min(outputSize, sizeof flag));
          return Status::ok();
        },
        traits);
  });
}

aclError aclrtResetOverflowStatus(aclrtStream stream) {
  return api("aclrtResetOverflowStatus", [&]() -> Status {
    std::shared_ptr<Stream> target;
    Device* device = nullptr;
    SOFTNPU_RETURN_IF_ERROR(device_of(stream, &target, &device));
    return target->submit("aclrtResetOverflowStatus", Cost::kSmall, [device] {
      device->overflow().clear();
      return Status::ok();
    });
  });
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  return api("aclrtSetStreamOverflowSwitch", [&]() -> Status {
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    if (flag > 1) return {ACL_ERROR_INVALID_PARAM, text("the overflow switch ", flag, ": it is 0 or 1")};
    softnpu::set_overflow_switch(*target, flag);
    return Status::ok();
  });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
  return api("aclrtGetStreamOverflowSwitch", [&] {
    SOFTNPU_RETURN_IF_ERROR(require(flag, "flag"));
    std::shared_ptr<Stream> target;
    SOFTNPU_RETURN_IF_ERROR(Process::get().stream(stream, &target));
    *flag = target->overflow_switch();
    return Status::ok();
  });
}

int32_t softnpuWatchesOverflow(void) {
  return guarded(int32_t{0}, [] { return Overflow::is_watched() ? 1 : 0; });
}

softnpuOverflowMode softnpuGetOverflowMode(aclrtStream stream) {
  return guarded(SOFTNPU_OVERFLOW_IGNORED, [&] {
    std::shared_ptr<Stream> target;
    Device* device = nullptr;
    if (!device_of(stream, &target, &device).is_ok()) return SOFTNPU_OVERFLOW_IGNORED;
    if (device->overflow().is_saturating()) return SOFTNPU_OVERFLOW_SATURATED;
    return target->overflow_switch() != 0 ? SOFTNPU_OVERFLOW_FLAGGED : SOFTNPU_OVERFLOW_IGNORED;
  });
}

int32_t softnpuGetOverflow(int32_t deviceId) {
  return guarded(int32_t{0}, [&] {
    Device* device = Process::get().live_device(deviceId);
    return device != nullptr && device->overflow().is_raised() ? 1 : 0;
  });
}

void softnpuClearOverflow(int32_t deviceId) {
  guarded([&] {
    if (Device* device = Process::get().live_device(deviceId)) device->overflow().clear();
  });
}

void softnpuRaiseOverflow(const void* address) {
  guarded([&] {
    if (Device* device = Process::get().device_of(address)) device->overflow().raise();
  });
}
