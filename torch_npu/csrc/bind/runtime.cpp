#include "bind/runtime.h"

#include <acl/acl.h>
#include <torch/csrc/Event.h>

#include <array>
#include <cstring>
#include <string>

#include "core/acl.h"
#include "core/adopted_event.h"
#include "core/configuration.h"
#include "core/device.h"
#include "core/special_streams.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

namespace py = pybind11;

c10::Event& event_of(const py::handle& object) {
  TORCH_CHECK_TYPE(PyObject_IsInstance(object.ptr(), reinterpret_cast<PyObject*>(&THPEventType)) == 1,
                   "expected an event");
  return reinterpret_cast<THPEvent*>(object.ptr())->event;
}

c10::Stream stream_of(int device, std::int64_t id) { return npu_stream(static_cast<c10::DeviceIndex>(device), id); }

// Gives an event its handle, with the runtime's `flag`, before the first record.
void create_event(const py::object& object, int device, std::uint32_t flag) {
  bind_device(static_cast<c10::DeviceIndex>(device));
  aclrtEvent result = nullptr;
  acl_check(aclrtCreateEventExWithFlag(&result, flag), "aclrtCreateEventExWithFlag");
  adopt_event(event_of(object), result, static_cast<c10::DeviceIndex>(device));
}

py::bytes event_key(std::intptr_t event) {
  aclrtIpcEventHandle handle{};
  acl_check(aclrtIpcGetEventHandle(reinterpret_cast<aclrtEvent>(event), &handle), "aclrtIpcGetEventHandle");
  return {handle.reserved, sizeof handle.reserved};
}

void open_event(const py::object& object, int device, const std::string& key) {
  aclrtIpcEventHandle handle{};
  TORCH_CHECK_VALUE(key.size() == sizeof handle.reserved, "the handle of an event has ", sizeof handle.reserved,
                    " bytes, not ", key.size());
  std::memcpy(handle.reserved, key.data(), key.size());
  bind_device(static_cast<c10::DeviceIndex>(device));
  aclrtEvent result = nullptr;
  acl_check(aclrtIpcOpenEventHandle(handle, &result), "aclrtIpcOpenEventHandle");
  adopt_event(event_of(object), result, static_cast<c10::DeviceIndex>(device));
}

std::uint64_t event_time(std::intptr_t event) {
  std::uint64_t us = 0;
  acl_check(aclrtEventGetTimestamp(reinterpret_cast<aclrtEvent>(event), &us), "aclrtEventGetTimestamp");
  return us;
}

std::uint32_t device_limit(int device, int type) {
  bind_device(static_cast<c10::DeviceIndex>(device));
  std::uint32_t value = 0;
  acl_check(aclrtGetDeviceResLimit(device, static_cast<aclrtDevResLimitType>(type), &value), "aclrtGetDeviceResLimit");
  return value;
}

std::uint32_t stream_limit(int device, std::int64_t id, int type) {
  std::uint32_t value = 0;
  acl_check(
      aclrtGetStreamResLimit(stream_handle(stream_of(device, id)), static_cast<aclrtDevResLimitType>(type), &value),
      "aclrtGetStreamResLimit");
  return value;
}

// The number of memory errors that the device reports.
std::size_t memory_errors(int device) {
  bind_device(static_cast<c10::DeviceIndex>(device));
  std::array<aclrtMemUceInfo, 20> found{};
  std::size_t count = 0;
  acl_check(aclrtGetMemUceInfo(device, found.data(), found.size(), &count), "aclrtGetMemUceInfo");
  return count;
}

std::uintptr_t create_raw_stream(int device) {
  bind_device(static_cast<c10::DeviceIndex>(device));
  aclrtStream result = nullptr;
  acl_check(aclrtCreateStream(&result), "aclrtCreateStream");
  return reinterpret_cast<std::uintptr_t>(result);
}

}  // namespace

void bind_runtime(py::module_& m) {
  using release_gil = py::call_guard<py::gil_scoped_release>;
  m.attr("EVENT_TIMING") = ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE;
  m.attr("EVENT_EXTERNAL") = ACL_EVENT_EXTERNAL;
  m.attr("EVENT_INTERPROCESS") = ACL_EVENT_IPC;
  m.def("create_event", &create_event);
  m.def("event_key", &event_key);
  m.def("open_event", &open_event);
  m.def("event_time", &event_time);
  m.def("reset_event", [](std::intptr_t event, int device, std::int64_t id) {
    acl_check(aclrtResetEvent(reinterpret_cast<aclrtEvent>(event), Enqueue(stream_of(device, id)).handle()),
              "aclrtResetEvent");
  });
  m.def("external_stream", [](int device, std::uintptr_t handle) {
    return external_stream(static_cast<c10::DeviceIndex>(device), reinterpret_cast<aclrtStream>(handle)).id();
  });
  m.def("sync_launch_stream",
        [](int device) { return sync_launch_stream(static_cast<c10::DeviceIndex>(device)).id(); });
  m.def("stream_handle", [](int device, std::int64_t id) {
    return reinterpret_cast<std::uintptr_t>(stream_handle(stream_of(device, id)));
  });
  m.def("create_raw_stream", &create_raw_stream);
  m.def("set_configuration", &set_configuration);
  m.def(
      "destroy_raw_stream",
      [](std::uintptr_t handle) {
        acl_check(aclrtDestroyStream(reinterpret_cast<aclrtStream>(handle)), "aclrtDestroyStream");
      },
      release_gil());
  m.def("host_register", [](std::uintptr_t address, std::uint64_t size, std::uint32_t flags) {
    bind_device(current_device());
    acl_check(aclrtHostRegisterV2(reinterpret_cast<void*>(address), size, flags), "aclrtHostRegisterV2");
  });
  m.def("host_unregister", [](std::uintptr_t address) {
    bind_device(current_device());
    acl_check(aclrtHostUnregister(reinterpret_cast<void*>(address)), "aclrtHostUnregister");
  });
  m.def("device_limit", &device_limit);
  m.def("set_device_limit", [](int device, int type, std::uint32_t value) {
    bind_device(static_cast<c10::DeviceIndex>(device));
    acl_check(aclrtSetDeviceResLimit(device, static_cast<aclrtDevResLimitType>(type), value), "aclrtSetDeviceResLimit");
  });
  m.def("reset_device_limit", [](int device) {
    bind_device(static_cast<c10::DeviceIndex>(device));
    acl_check(aclrtResetDeviceResLimit(device), "aclrtResetDeviceResLimit");
  });
  m.def("stream_limit", &stream_limit);
  m.def("set_stream_limit", [](int device, std::int64_t id, int type, std::uint32_t value) {
    acl_check(
        aclrtSetStreamResLimit(stream_handle(stream_of(device, id)), static_cast<aclrtDevResLimitType>(type), value),
        "aclrtSetStreamResLimit");
  });
  m.def("reset_stream_limit", [](int device, std::int64_t id) {
    acl_check(aclrtResetStreamResLimit(stream_handle(stream_of(device, id))), "aclrtResetStreamResLimit");
  });
  m.def("memory_errors", &memory_errors);
  m.def(
      "stop_device", [](int device) { stop_device(static_cast<c10::DeviceIndex>(device)); }, release_gil());
  m.def(
      "restart_device", [](int device) { restart_device(static_cast<c10::DeviceIndex>(device)); }, release_gil());
}

}  // namespace torch_npu
