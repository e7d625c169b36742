// torch_npu._C: what Python needs beside PyTorch's own generic interfaces. Thin: each function is one call.

#include <acl/acl.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/csrc/Device.h>
#include <torch/csrc/Generator.h>
#include <torch/csrc/python_headers.h>
#include <torch/csrc/utils/pybind.h>

#include <algorithm>
#include <utility>

#include "core/acl.h"
#include "core/aclnn.h"
#include "core/allocator/caching_allocator.h"
#include "core/allocator/host_allocator.h"
#include "core/device.h"
#include "core/generator.h"
#include "core/stream.h"

namespace torch_npu {
namespace {

namespace py = pybind11;
using c10::CachingDeviceAllocator::DeviceStats;

py::dict stat_dict(const c10::CachingAllocator::Stat& stat) {
  py::dict d;
  d["current"] = stat.current;
  d["peak"] = stat.peak;
  d["allocated"] = stat.allocated;
  d["freed"] = stat.freed;
  return d;
}

py::dict stat_array_dict(const c10::CachingAllocator::StatArray& array) {
  py::dict d;
  d["all"] = stat_dict(array[0]);
  d["small_pool"] = stat_dict(array[1]);
  d["large_pool"] = stat_dict(array[2]);
  return d;
}

py::dict memory_stats(c10::DeviceIndex device) {
  DeviceStats s = caching_allocator().getDeviceStats(device);
  py::dict d;
  d["allocation"] = stat_array_dict(s.allocation);
  d["segment"] = stat_array_dict(s.segment);
  d["active"] = stat_array_dict(s.active);
  d["inactive_split"] = stat_array_dict(s.inactive_split);
  d["allocated_bytes"] = stat_array_dict(s.allocated_bytes);
  d["reserved_bytes"] = stat_array_dict(s.reserved_bytes);
  d["active_bytes"] = stat_array_dict(s.active_bytes);
  d["inactive_split_bytes"] = stat_array_dict(s.inactive_split_bytes);
  d["requested_bytes"] = stat_array_dict(s.requested_bytes);
  d["oversize_allocations"] = stat_dict(s.oversize_allocations);
  d["oversize_segments"] = stat_dict(s.oversize_segments);
  d["num_alloc_retries"] = s.num_alloc_retries;
  d["num_ooms"] = s.num_ooms;
  d["num_sync_all_streams"] = s.num_sync_all_streams;
  d["num_device_alloc"] = s.num_device_alloc;
  d["num_device_free"] = s.num_device_free;
  d["max_split_size"] = s.max_split_size;
  return d;
}

// The dictionaries that torch.cuda.memory_snapshot() documents.
py::list memory_snapshot() {
  py::list segments;
  for (const auto& segment : caching_allocator().snapshot()) {
    py::list blocks;
    std::size_t address = segment.address;
    for (const auto& block : segment.blocks) {
      py::dict b;
      b["address"] = address;
      b["size"] = block.size;
      b["requested_size"] = block.requested_size;
      b["state"] = block.allocated ? "active_allocated" : block.active ? "active_pending_free" : "inactive";
      b["frames"] = py::list();
      blocks.append(b);
      address += block.size;
    }
    py::dict s;
    s["device"] = static_cast<int>(segment.device);
    s["address"] = segment.address;
    s["total_size"] = segment.total_size;
    s["allocated_size"] = segment.allocated_size;
    s["active_size"] = segment.active_size;
    s["requested_size"] = segment.requested_size;
    s["stream"] = reinterpret_cast<std::intptr_t>(segment.stream);
    s["segment_type"] = segment.is_large ? "large" : "small";
    s["segment_pool_id"] = py::make_tuple(0, 0);
    s["is_expandable"] = segment.is_expandable;
    s["frames"] = py::list();
    s["blocks"] = blocks;
    segments.append(s);
  }
  return segments;
}

py::dict host_memory_stats() {
  at::HostStats s = host_allocator().get_stats();
  auto duration = [](const c10::CachingAllocator::DurationStat& d) {
    py::dict out;
    out["total"] = d.total;
    out["max"] = d.max;
    out["min"] = d.min;
    out["count"] = d.count;
    out["avg"] = d.count == 0 ? 0.0 : static_cast<double>(d.total) / static_cast<double>(d.count);
    return out;
  };
  py::dict d;
  d["num_host_alloc"] = s.num_host_alloc;
  d["num_host_free"] = s.num_host_free;
  d["active_requests"] = stat_dict(s.active_requests);
  d["active_bytes"] = stat_dict(s.active_bytes);
  d["allocations"] = stat_dict(s.allocations);
  d["allocated_bytes"] = stat_dict(s.allocated_bytes);
  d["host_alloc_time"] = duration(s.host_alloc_time);
  d["host_free_time"] = duration(s.host_free_time);
  return d;
}

std::string cann_version() {
  aclCANNPackageVersion version;
  acl_check(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), "aclsysGetCANNVersion");
  return version.version;
}

// Gives a block back that caching_allocator_alloc returned.
void delete_raw(std::uintptr_t address) {
  const auto segments = caching_allocator().snapshot();
  const bool is_live = std::any_of(segments.begin(), segments.end(), [&](const auto& segment) {
    std::size_t at = segment.address;
    return std::any_of(segment.blocks.begin(), segment.blocks.end(), [&](const auto& block) {
      return std::exchange(at, at + block.size) == address && block.allocated;
    });
  });
  TORCH_CHECK(address == 0 || is_live, "invalid device pointer: ", reinterpret_cast<void*>(address),
              " is not the start of a block that caching_allocator_alloc returned and that is still live",
              error_tail("ERR00004", "PTA invalid pointer"));
  CachingAllocator::release(reinterpret_cast<void*>(address));
}

// "softnpu <version>"; empty on a real CANN.
std::string softnpu_version() {
  auto function = reinterpret_cast<const char* (*)()>(softnpu_symbol("softnpuVersion"));
  return function == nullptr ? "" : function();
}

py::tuple bound_device_range(c10::DeviceIndex device) {
  bind_device(device);
  TORCH_CHECK(is_host_addressable(), "only softnpu tells a device's address range");
  auto [base, size] = device_range(device);
  return py::make_tuple(reinterpret_cast<std::uintptr_t>(base), size);
}

}  // namespace

PYBIND11_MODULE(_C, m) {
  using release_gil = py::call_guard<py::gil_scoped_release>;
  m.def("device_count", [] { return static_cast<int>(device_count()); });
  m.def("device_count_error", &device_count_error);
  m.def(
      "init", [] { bind_device(current_device()); }, release_gil());
  m.def("is_initialized", &is_initialized);
  m.def("in_bad_fork", &in_bad_fork);
  m.def("current_device", [] { return static_cast<int>(current_device()); });
  m.def(
      "set_device", [](int device) { set_device(static_cast<c10::DeviceIndex>(device)); }, release_gil());
  m.def(
      "synchronize", [](int device) { synchronize_device(static_cast<c10::DeviceIndex>(device)); }, release_gil());
  m.def("shutdown", &shutdown, release_gil());
  m.def("soc_name", [] { return std::string(aclrtGetSocName()); });
  m.def("cann_version", &cann_version);
  m.def("softnpu_version", &softnpu_version);
  m.def("device_range", &bound_device_range);
  m.def("aclnn_launches", &aclnn_launches);

  // torch.Event.elapsed_time takes no subclass of torch.Event, so this is for torch.npu.Event. Ids are handles.
  m.def("elapsed_time", [](std::intptr_t start, std::intptr_t end) {
    const auto* guard = c10::impl::getDeviceGuardImpl(c10::DeviceType::PrivateUse1);
    return guard->elapsedTime(reinterpret_cast<void*>(start), reinterpret_cast<void*>(end), current_device());
  });

  m.def("memory_stats", &memory_stats);
  m.def("reset_peak_memory_stats", [](int d) { caching_allocator().resetPeakStats(static_cast<c10::DeviceIndex>(d)); });
  m.def("reset_accumulated_memory_stats",
        [](int d) { caching_allocator().resetAccumulatedStats(static_cast<c10::DeviceIndex>(d)); });
  m.def(
      "empty_cache", [] { caching_allocator().emptyCache(); }, release_gil());
  m.def("memory_snapshot", &memory_snapshot);
  m.def("set_memory_fraction",
        [](double f, int d) { caching_allocator().set_memory_fraction(static_cast<c10::DeviceIndex>(d), f); });
  m.def("memory_fraction", [](int d) { return caching_allocator().memory_fraction(static_cast<c10::DeviceIndex>(d)); });
  m.def("caching_allocator_alloc", [](int device, std::size_t size) {
    return reinterpret_cast<std::uintptr_t>(
        caching_allocator().allocate_raw(static_cast<c10::DeviceIndex>(device), size));
  });
  m.def("caching_allocator_delete", &delete_raw);
  m.def("host_memory_stats", &host_memory_stats);
  m.def(
      "host_empty_cache", [] { host_allocator().empty_cache(); }, release_gil());
  m.def("reset_peak_host_memory_stats", [] { host_allocator().reset_peak_stats(); });
  m.def("reset_accumulated_host_memory_stats", [] { host_allocator().reset_accumulated_stats(); });
  m.def("mem_get_info", [](int d) { return caching_allocator().getMemoryInfo(static_cast<c10::DeviceIndex>(d)); });

  m.def("default_generator", [](int device) {
    return py::reinterpret_steal<py::object>(
        THPGenerator_initDefaultGenerator(default_generator(static_cast<c10::DeviceIndex>(device))));
  });
}

}  // namespace torch_npu
