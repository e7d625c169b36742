#include "monitor/smi/table.h"

#include <cstdio>

#include "base/text.h"
#include "monitor/smi/columns.h"

namespace softnpu::monitor {
namespace {

// The widths between the bars: three columns of devices, four of processes.
constexpr size_t kFirst = 27;
constexpr size_t kSecond = 15;
constexpr size_t kThird = 52;
constexpr size_t kName = 26;
constexpr size_t kMemory = 25;
constexpr size_t kAll = kFirst + kSecond + kThird + 2;

std::string rule(char dash) {
  return text('+', std::string(kFirst, dash), '+', std::string(kSecond, dash), '+', std::string(kThird, dash), "+\n");
}
std::string plain_rule() { return text('+', std::string(kAll, '-'), "+\n"); }

std::string row(std::string_view first, std::string_view second, std::string_view third) {
  return text("| ", left(first, kFirst - 1), "| ", left(second, kSecond - 1), "| ", left(third, kThird - 1), "|\n");
}
std::string process_row(std::string_view device, std::string_view pid, std::string_view name, std::string_view memory) {
  return text("| ", left(device, kFirst - 1), "| ", left(pid, kSecond - 1), "| ", left(name, kName - 1), "| ",
              left(memory, kMemory - 1), "|\n");
}
std::string widened_row(std::string_view words) { return text("| ", left(words, kAll - 1), "|\n"); }

// The parts of the third column.
std::string three(std::string_view first, std::string_view second, std::string_view third) {
  return left(first, 12) + left(second, 18) + std::string(third);
}

std::string watts(double power) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.1f", power);
  return digits;
}

std::string device_rows(const Machine& machine, const DeviceLoad& device) {
  const Soc& soc = machine.soc;
  const int chip = machine.chip_of(device);
  const bool is_a3 = soc.layout() == Layout::kAtlasA3;
  // The power of an NPU of two chips is its first one's.
  const std::string power = chip > 0 ? "-" : watts(soc.power_w(device.busy));
  const std::string second = is_a3 ? left(std::to_string(chip), 6) + std::to_string(device.id) : std::to_string(chip);
  return row(left(std::to_string(machine.npu_of(device)), 6) + soc.short_name(), "OK",
             three(power, std::to_string(soc.temperature_c(device.busy)), of_total(0, 0))) +
         row(second, bus_id(device.id),
             three(std::to_string(device.busy), of_total(0, 0),
                   of_total(megabytes(device.used), megabytes(device.total))));
}

// Whether `device` is the last chip of its NPU.
bool ends_npu(const Machine& machine, const DeviceLoad& device) {
  return &device == &machine.devices.back() || machine.chip_of(device) + 1 == machine.soc.chips_of_npu();
}

std::string process_rows(const Machine& machine) {
  std::string out;
  bool has_any = false;
  for (const DeviceLoad& device : machine.devices) {
    const int npu = machine.npu_of(device);
    for (const ProcessLoad& process : device.processes) {
      out += process_row(left(std::to_string(npu), 8) + std::to_string(machine.chip_of(device)),
                         std::to_string(process.pid), process.name, std::to_string(megabytes(process.used)));
    }
    has_any = has_any || !device.processes.empty();
    if (!ends_npu(machine, device)) continue;
    if (!has_any) out += widened_row(text("No running processes found in NPU ", npu));
    out += rule('=');
    has_any = false;
  }
  return out;
}

}  // namespace

std::string process_table(const Machine& machine) {
  return rule('-') + process_row("NPU     Chip", "Process id", "Process name", "Process memory(MB)") + rule('=') +
         process_rows(machine);
}

std::string table(const Machine& machine) {
  const std::string version(machine.soc.driver_version());
  const std::string chip = machine.soc.layout() == Layout::kAtlasA3 ? "Chip  Phy-ID" : "Chip";
  std::string out =
      plain_rule() +
      widened_row(left("npu-smi " + version, 33) + left("Version: " + version, 30) + "softnpu, a software NPU") +
      rule('-') + row("NPU   Name", "Health", three("Power(W)", "Temp(C)", "Hugepages-Usage(page)")) +
      row(chip, "Bus-Id", three("AICore(%)", "Memory-Usage(MB)", "HBM-Usage(MB)")) + rule('=');
  for (const DeviceLoad& device : machine.devices) {
    out += device_rows(machine, device) + (ends_npu(machine, device) ? rule('=') : plain_rule());
  }
  return out + process_table(machine);
}

}  // namespace softnpu::monitor
