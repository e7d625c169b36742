#include "monitor/smi/details.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.h"
#include "monitor/smi/columns.h"
#include "monitor/smi/table.h"

namespace softnpu::monitor {
namespace {

template <typename Value>
std::string line(std::string_view key, const Value& value) {
  return text('\t', left(key, 31), ": ", value, '\n');
}

int rate(const DeviceLoad& device) {
  return device.total == 0 ? 0 : static_cast<int>(100 * device.used / device.total);
}

std::string board(const Machine& machine, const DeviceLoad& device) {
  return line("Product Name", "softnpu") + line("Model", machine.soc.name()) +
         line("Software Version", machine.soc.driver_version()) + line("Board ID", "NA") +
         line("PCIe Bus Info", bus_id(device.id)) + line("Host Threads", machine.cores) +
         line("Chip Count", machine.soc.chips_of_npu());
}

std::string usages(const Machine& /*machine*/, const DeviceLoad& device) {
  return line("DDR Capacity(MB)", 0) + line("DDR Usage Rate(%)", 0) +
         line("HBM Capacity(MB)", megabytes(device.total)) + line("HBM Usage Rate(%)", rate(device)) +
         line("Aicore Usage Rate(%)", device.busy) + line("Aivector Usage Rate(%)", device.busy) +
         line("NPU Utilization(%)", device.busy);
}

std::string memory(const Machine& machine, const DeviceLoad& device) {
  return line("DDR Capacity(MB)", 0) + line("HBM Capacity(MB)", megabytes(device.total)) +
         line("HBM Usage(MB)", megabytes(device.used)) + line("HBM Clock Speed(MHz)", machine.soc.memory_mhz());
}

std::string temperature(const Machine& machine, const DeviceLoad& device) {
  return line("NPU Temperature (C)", machine.soc.temperature_c(device.busy));
}

std::string power(const Machine& machine, const DeviceLoad& device) {
  std::array<char, 32> watts{};
  std::snprintf(watts.data(), watts.size(), "%.1f", machine.soc.power_w(device.busy));
  return line("Power Dissipation(W)", watts.data());
}

std::string health(const Machine& /*machine*/, const DeviceLoad& /*device*/) { return line("Health", "OK"); }

std::string common(const Machine& machine, const DeviceLoad& device) {
  return line("HBM Usage Rate(%)", rate(device)) + line("Aicore Usage Rate(%)", device.busy) +
         line("Aicore Freq(MHZ)", machine.soc.max_core_mhz()) +
         line("Aicore curFreq(MHZ)", machine.soc.core_mhz(device.busy)) + temperature(machine, device) +
         power(machine, device) + health(machine, device);
}

std::string product(const Machine& machine, const DeviceLoad& /*device*/) {
  return line("Product Type", text("softnpu (", machine.soc.name(), ")"));
}

std::string processes(const Machine& /*machine*/, const DeviceLoad& device) {
  if (device.processes.empty()) return "\tNo process in device.\n";
  std::string out;
  for (const ProcessLoad& process : device.processes) {
    out += text("\tProcess id:", process.pid, "  Process name:", process.name,
                "  Process memory(MB):", megabytes(process.used), '\n');
  }
  return out;
}

struct Type {
  std::string_view name;
  std::string (*describe)(const Machine&, const DeviceLoad&);  // null: answered for all devices at once
};
constexpr std::array kTypes{Type{"board", &board},        Type{"common", &common},   Type{"health", &health},
                            Type{"memory", &memory},      Type{"power", &power},     Type{"proc-info", nullptr},
                            Type{"proc-mem", &processes}, Type{"product", &product}, Type{"temp", &temperature},
                            Type{"topo", nullptr},        Type{"usages", &usages}};

// All software NPUs copy through the host's memory.
std::string topology(const Machine& machine) {
  constexpr size_t kWidth = 8;
  std::string out(kWidth, ' ');
  for (const DeviceLoad& device : machine.devices) out += left(text("NPU", device.id), kWidth);
  out += '\n';
  for (const DeviceLoad& device : machine.devices) {
    out += left(text("NPU", device.id), kWidth);
    for (const DeviceLoad& other : machine.devices) out += left(device.id == other.id ? "X" : "SYS", kWidth);
    out += '\n';
  }
  return out + "\nLegend:\n\n  X    = Self\n  SYS  = through the host's memory\n";
}

}  // namespace

std::string type_names() {
  std::string names;
  for (const Type& type : kTypes) names += text(names.empty() ? "" : ", ", type.name);
  return names;
}

Status check_type(std::string_view type) {
  if (std::ranges::find(kTypes, type, &Type::name) != kTypes.end()) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM, text("-t '", type, "' is none of ", type_names())};
}

std::string details(const Machine& machine, std::string_view type) {
  if (type == "proc-info") return process_table(machine);
  if (type == "topo") return topology(machine);
  const auto found = std::ranges::find(kTypes, type, &Type::name);
  std::string out;
  for (const DeviceLoad& device : machine.devices) {
    out += text(out.empty() ? "" : "\n", line("NPU ID", machine.npu_of(device)), found->describe(machine, device),
                line("Chip ID", machine.chip_of(device)));
  }
  return out;
}

std::string list(const Machine& machine) {
  const int chips = machine.soc.chips_of_npu();
  const auto count = static_cast<int>(machine.devices.size());
  std::string out = line("Total Count", (count + chips - 1) / chips);
  for (const DeviceLoad& device : machine.devices) {
    if (machine.chip_of(device) != 0) continue;
    out += text('\n', line("NPU ID", machine.npu_of(device)), line("Chip Count", std::min(chips, count - device.id)));
  }
  return out;
}

std::string mapping(const Machine& machine) {
  const auto columns = [](std::string_view npu, std::string_view chip, std::string_view logic, std::string_view name) {
    return text('\t', left(npu, 31), left(chip, 31), left(logic, 31), name, '\n');
  };
  std::string out = columns("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name");
  for (const DeviceLoad& device : machine.devices) {
    const std::string name = machine.soc.short_name();
    out += columns(std::to_string(machine.npu_of(device)), std::to_string(machine.chip_of(device)),
                   std::to_string(device.id), name.starts_with("Ascend") ? name : "Ascend " + name);
  }
  return out;
}

}  // namespace softnpu::monitor
