#include "core/allocator/mem_pool.h"

#include "bind/runtime.h"
#include "core/device.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

namespace py = pybind11;

RawAllocator raw_allocator(std::uintptr_t allocate, std::uintptr_t release) {
  return {reinterpret_cast<decltype(RawAllocator::allocate)>(allocate),
          reinterpret_cast<decltype(RawAllocator::release)>(release)};
}

py::object& observer() {
  static auto& instance = *std::make_unique<py::object>().release();  // used until the end of the process
  return instance;
}

void observe(c10::DeviceIndex device) {
  if (Py_IsInitialized() == 0) return;
  const py::gil_scoped_acquire gil;
  try {
    observer()(static_cast<int>(device));
  } catch (py::error_already_set& e) {
    e.discard_as_unraisable("the out-of-memory observer");
  }
}

}  // namespace

void bind_mem_pool(py::module_& m) {
  using release_gil = py::call_guard<py::gil_scoped_release>;
  using Id = c10::MempoolId_t;
  m.def("create_pool", [](int device, std::uintptr_t allocate, std::uintptr_t release, bool use_on_oom, bool no_split) {
    const Id id = new_pool_id();
    use_pool(static_cast<c10::DeviceIndex>(device), id, {raw_allocator(allocate, release), use_on_oom, no_split});
    return id;
  });
  m.def(
      "release_pool", [](int device, Id id) { release_pool(static_cast<c10::DeviceIndex>(device), id); },
      release_gil());
  m.def("pool_use_count", [](int device, Id id) { return pool_use_count(static_cast<c10::DeviceIndex>(device), id); });
  m.def("begin_allocate_to_pool",
        [](int device, Id id) { begin_allocate_to_pool(static_cast<c10::DeviceIndex>(device), id); });
  m.def("end_allocate_to_pool",
        [](int device, Id id) { end_allocate_to_pool(static_cast<c10::DeviceIndex>(device), id); });
  m.def("set_current_allocator", [](std::uintptr_t allocate, std::uintptr_t release) {
    set_current_allocator(raw_allocator(allocate, release));
  });
  m.def("has_custom_allocator", &has_custom_allocator);
  m.def("erase_stream", [](std::uintptr_t address, int device, std::int64_t id) {
    erase_stream(reinterpret_cast<void*>(address), npu_stream(static_cast<c10::DeviceIndex>(device), id));
  });
  m.def("set_out_of_memory_observer", [](py::object function) {
    observer() = std::move(function);
    set_out_of_memory_observer(&observe);
  });
}

}  // namespace torch_npu
