#include "monitor/smi/json.h"

#include "base/text.h"

namespace softnpu::monitor {
namespace {

// Names of SoCs and processes have no character that JSON escapes (monitor/pages.cpp), but a variable may.
std::string quoted(std::string_view words) {
  std::string out = "\"";
  for (const char c : words) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return out + '"';
}

std::string process_object(const ProcessLoad& process) {
  return text("{\"pid\": ", process.pid, ", \"name\": ", quoted(process.name), ", \"memory_bytes\": ", process.used,
              ", \"utilization_percent\": ", process.busy, "}");
}

std::string modelled(const Soc& soc, const DeviceLoad& device) {
  return text("{\"power_w\": ", soc.power_w(device.busy), ", \"temperature_c\": ", soc.temperature_c(device.busy),
              ", \"core_mhz\": ", soc.core_mhz(device.busy), ", \"memory_mhz\": ", soc.memory_mhz(),
              ", \"health\": \"OK\", \"bus_id\": ", quoted(bus_id(device.id)), "}");
}

std::string device_object(const Machine& machine, const DeviceLoad& device) {
  std::string processes;
  for (const ProcessLoad& process : device.processes) {
    processes += (processes.empty() ? "" : ", ") + process_object(process);
  }
  return text("    {\"npu\": ", machine.npu_of(device), ", \"chip\": ", machine.chip_of(device),
              ", \"physical_id\": ", device.id, ",\n     \"memory_total_bytes\": ", device.total,
              ", \"memory_used_bytes\": ", device.used, ", \"utilization_percent\": ", device.busy,
              ",\n     \"processes\": [", processes, "],\n     \"modelled\": ", modelled(machine.soc, device), "}");
}

}  // namespace

std::string json(const Machine& machine) {
  std::string devices;
  for (const DeviceLoad& device : machine.devices) {
    devices += (devices.empty() ? "" : ",\n") + device_object(machine, device);
  }
  return text("{\n  \"soc\": ", quoted(machine.soc.name()), ",\n  \"cores\": ", machine.cores,
              ",\n  \"modelled\": {\"driver_version\": ", quoted(machine.soc.driver_version()),
              "},\n  \"devices\": [\n", devices, "\n  ]\n}\n");
}

}  // namespace softnpu::monitor
