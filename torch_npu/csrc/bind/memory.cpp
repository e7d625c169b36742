#include "bind/memory.h"

#include <c10/core/AllocatorConfig.h>
#include <c10/util/ApproximateClock.h>

#include <algorithm>
#include <array>
#include <utility>

#include "compat/python_traceback.h"
#include "core/acl.h"
#include "core/allocator/caching_allocator.h"
#include "core/allocator/host_allocator.h"
#include "core/allocator/settings.h"
#include "core/memory_blocks.h"
#include "core/memory_events.h"

namespace torch_npu {
namespace {

namespace py = pybind11;
using c10::CachingDeviceAllocator::DeviceStats;
using c10::CachingDeviceAllocator::RecordContext;
using c10::CachingDeviceAllocator::TraceEntry;

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
  d["num_oom_rejections"] = s.num_oom_rejections;
  d["max_split_size"] = s.max_split_size;
  return d;
}

// Collects the stacks of a snapshot, which are symbolised all at once.
class Frames {
 public:
  // fill() will set `dict["frames"]`; an empty list if no stack was recorded.
  void add(const py::dict& dict, const std::shared_ptr<c10::GatheredContext>& context) {
    if (!context) {
      dict["frames"] = py::list();
      return;
    }
    stacks_.push_back(torch::getCapturedTracebackFromContext(context));
    kept_.push_back(context);
    dicts_.push_back(dict);
  }

  void fill() {
    std::vector<py::object> frames = torch::py_symbolize(stacks_);
    for (std::size_t i = 0; i < frames.size(); ++i) dicts_[i]["frames"] = frames[i];
  }

 private:
  std::vector<torch::CapturedTraceback*> stacks_;
  std::vector<std::shared_ptr<c10::GatheredContext>> kept_;  // blocks may be freed during the conversion
  std::vector<py::dict> dicts_;
};

py::list segment_list(const std::vector<c10::CachingDeviceAllocator::SegmentInfo>& segments, Frames& frames) {
  py::list all;
  for (const auto& segment : segments) {
    py::list blocks;
    std::size_t address = segment.address;
    for (const auto& block : segment.blocks) {
      py::dict b;
      b["address"] = address;
      b["size"] = block.size;
      b["requested_size"] = block.requested_size;
      b["state"] = block.allocated ? "active_allocated" : block.active ? "active_pending_free" : "inactive";
      frames.add(b, block.context_when_allocated);
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
    s["segment_pool_id"] = py::make_tuple(segment.owner_private_pool_id.first, segment.owner_private_pool_id.second);
    s["is_expandable"] = segment.is_expandable;
    s["blocks"] = blocks;
    frames.add(s, segment.context_when_allocated);
    all.append(s);
  }
  return all;
}

// Of the actions that the allocator records.
const char* action_name(TraceEntry::Action action) {
  constexpr std::array<std::pair<TraceEntry::Action, const char*>, 9> kNames = {{
      {TraceEntry::ALLOC, "alloc"},
      {TraceEntry::FREE_REQUESTED, "free_requested"},
      {TraceEntry::FREE_COMPLETED, "free_completed"},
      {TraceEntry::SEGMENT_ALLOC, "segment_alloc"},
      {TraceEntry::SEGMENT_FREE, "segment_free"},
      {TraceEntry::SEGMENT_MAP, "segment_map"},
      {TraceEntry::SEGMENT_UNMAP, "segment_unmap"},
      {TraceEntry::SNAPSHOT, "snapshot"},
      {TraceEntry::OOM, "oom"},
  }};
  const auto* const found = std::ranges::find(kNames, action, [](const auto& name) { return name.first; });
  return found == kNames.end() ? "" : found->second;
}

// Converts the entries' fast clock to the time of day; created when recording begins, so that both ends are measured.
c10::ApproximateClockToUnixTimeConverter& clock_converter() {
  static c10::ApproximateClockToUnixTimeConverter converter;
  return converter;
}

py::list trace_lists(const std::vector<std::vector<TraceEntry>>& devices, Frames& frames) {
  const auto to_ns = clock_converter().makeConverter();
  py::list all;
  for (const auto& entries : devices) {
    py::list trace;
    for (const TraceEntry& entry : entries) {
      py::dict e;
      e["action"] = action_name(entry.action_);
      e[entry.action_ == TraceEntry::OOM ? "device_free" : "addr"] = entry.addr_;
      e["size"] = entry.size_;
      e["stream"] = reinterpret_cast<std::intptr_t>(entry.stream_);
      e["pool_id"] = py::make_tuple(entry.mempool_.first, entry.mempool_.second);
      e["time_us"] = to_ns(entry.time_.approx_t_) / 1000;
      frames.add(e, entry.context_);
      trace.append(e);
    }
    all.append(trace);
  }
  return all;
}

py::list memory_snapshot() {
  Frames frames;
  py::list segments = segment_list(caching_allocator().snapshot(), frames);
  frames.fill();
  return segments;
}

// The dictionary that torch.cuda.memory._snapshot() documents.
py::dict snapshot_with_history() {
  using Config = c10::CachingAllocator::AcceleratorAllocatorConfig;
  Frames frames;
  py::dict settings;
  settings["PYTORCH_NPU_ALLOC_CONF"] = c10::CachingAllocator::getAllocatorSettings();
  settings["max_split_size"] = static_cast<std::int64_t>(Config::max_split_size());
  settings["garbage_collection_threshold"] = Config::garbage_collection_threshold();
  settings["expandable_segments"] = Config::use_expandable_segments();
  py::dict all;
  all["segments"] = segment_list(caching_allocator().snapshot(), frames);
  all["device_traces"] = trace_lists(caching_allocator().history(), frames);
  all["allocator_settings"] = settings;
  frames.fill();
  return all;
}

std::shared_ptr<c10::GatheredContext> python_stack() { return torch::CapturedTraceback::gather(true, true, false); }
std::shared_ptr<c10::GatheredContext> whole_stack() { return torch::CapturedTraceback::gather(true, true, true); }

RecordContext record_context(const std::optional<std::string>& name) {
  if (!name.has_value()) return RecordContext::NEVER;
  if (*name == "state") return RecordContext::STATE;
  if (*name == "alloc") return RecordContext::ALLOC;
  TORCH_CHECK_VALUE(*name == "all", "expected context to be 'state', 'alloc', 'all', or None, not '", *name, "'");
  return RecordContext::ALL;
}

void record_memory_history(const std::optional<std::string>& enabled, const std::optional<std::string>& context,
                           const std::string& stacks, std::size_t max_entries) {
  TORCH_CHECK_VALUE(!enabled.has_value() || *enabled == "state" || *enabled == "all",
                    "expected enabled to be 'state', 'all', or None, not '", enabled.value_or(""), "'");
  TORCH_CHECK_VALUE(stacks == "python" || stacks == "all", "expected stacks to be 'python' or 'all', not '", stacks,
                    "'");
  HistorySettings settings;
  settings.when = record_context(context);
  settings.enabled = enabled.has_value();
  settings.max_entries = enabled == "all" ? max_entries : 1;
  settings.recorder = stacks == "all" ? &whole_stack : &python_stack;
  torch::installCapturedTracebackPython();
  (void)clock_converter();
  caching_allocator().record_history(settings);
}

// Frees a block that caching_allocator_alloc returned.
void delete_raw(std::uintptr_t number) {
  auto* address = reinterpret_cast<void*>(number);
  TORCH_CHECK(address == nullptr || CachingAllocator::is_live(address), "invalid device pointer: ", address,
              " is not the start of a block that caching_allocator_alloc returned and that is still live",
              error_tail("ERR00004", "PTA invalid pointer"));
  CachingAllocator::release(address);
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

}  // namespace

void bind_memory(py::module_& m) {
  using release_gil = py::call_guard<py::gil_scoped_release>;
  m.def("memory_stats", &memory_stats);
  m.def("packed_weights_bytes", [](int d) { return packed_weights_bytes(static_cast<c10::DeviceIndex>(d)); });
  m.def("reset_peak_memory_stats", [](int d) { caching_allocator().resetPeakStats(static_cast<c10::DeviceIndex>(d)); });
  m.def("reset_accumulated_memory_stats",
        [](int d) { caching_allocator().resetAccumulatedStats(static_cast<c10::DeviceIndex>(d)); });
  m.def(
      "empty_cache", [] { caching_allocator().emptyCache(); }, release_gil());
  m.def("memory_snapshot", &memory_snapshot);
  m.def("snapshot_with_history", &snapshot_with_history);
  m.def("record_memory_history", &record_memory_history);
  // The address of a C function without arguments that returns the line of the program, or null.
  m.def("set_allocation_site", [](std::uintptr_t site) {
    set_allocation_site(reinterpret_cast<const char* (*)()>(site));  // NOLINT(performance-no-int-to-ptr)
  });
  m.def("set_allocator_settings", &set_allocator_settings);
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
}

}  // namespace torch_npu
