// libdcmi: what npu-smi prints, as functions.

#include "dcmi/dcmi_interface_api.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string_view>

#include "base/border.h"
#include "base/no_destroy.h"
#include "monitor/machine.h"

using softnpu::guarded;
using softnpu::monitor::DeviceLoad;
using softnpu::monitor::Machine;
using softnpu::monitor::megabytes;

namespace {

constexpr std::chrono::milliseconds kWindow(20);
constexpr int kOk = 0;
constexpr int kMaxProcesses = 64;

// Calls `use(machine)` with the machine as it is now.
template <typename Use>
int with_machine(const Use& use) noexcept {
  return guarded(int{DCMI_NOT_SUPPORTED}, [&] {
    static softnpu::NoDestroy<std::mutex> mutex;
    static softnpu::NoDestroy<softnpu::monitor::Observer> observer;
    std::lock_guard lock(mutex.get());
    Machine machine;
    if (!observer.get().observe(kWindow, &machine).is_ok()) return int{DCMI_NOT_SUPPORTED};
    return use(machine);
  });
}

// Calls `use(machine, device)` with one device.
template <typename Out, typename Use>
int with_device(int card, int chip, Out* out, const Use& use) noexcept {
  if (out == nullptr) return DCMI_WRONG_ARGUMENT;
  return with_machine([&](const Machine& machine) {
    for (const DeviceLoad& device : machine.devices) {
      if (machine.npu_of(device) == card && machine.chip_of(device) == chip) return use(machine, device);
    }
    return int{DCMI_WRONG_ARGUMENT};
  });
}

template <size_t N>
void put(std::string_view words, unsigned char (&out)[N]) {
  std::fill(std::begin(out), std::end(out), 0);
  std::copy_n(words.begin(), std::min(words.size(), N - 1), out);
}

template <typename Info>
int chip_info(int card, int chip, Info* out) noexcept {
  return with_device(card, chip, out, [&](const Machine& machine, const DeviceLoad&) {
    put("Ascend", out->chip_type);
    put(machine.soc.short_name(), out->chip_name);
    put("V1", out->chip_ver);
    out->aicore_cnt = static_cast<unsigned int>(machine.cores);
    if constexpr (requires { out->npu_name; }) put(machine.soc.short_name(), out->npu_name);
    return kOk;
  });
}

int cards(int* count, int* list, int length) noexcept {
  if (count == nullptr || list == nullptr || length < 0) return DCMI_WRONG_ARGUMENT;
  return with_machine([&](const Machine& machine) {
    *count = 0;
    for (const DeviceLoad& device : machine.devices) {
      if (machine.chip_of(device) == 0 && *count < length) list[(*count)++] = machine.npu_of(device);
    }
    return kOk;
  });
}

}  // namespace

int dcmi_init(void) {
  return with_machine([](const Machine&) { return kOk; });
}

int dcmi_get_card_num_list(int* count, int* list, int length) { return cards(count, list, length); }
int dcmi_get_card_list(int* count, int* list, int length) { return cards(count, list, length); }

int dcmi_get_device_num_in_card(int card, int* count) {
  if (count == nullptr) return DCMI_WRONG_ARGUMENT;
  return with_machine([&](const Machine& machine) {
    *count = static_cast<int>(std::ranges::count_if(
        machine.devices, [&](const DeviceLoad& device) { return machine.npu_of(device) == card; }));
    return *count > 0 ? kOk : int{DCMI_WRONG_ARGUMENT};
  });
}

int dcmi_get_device_logic_id(int* logic, int card, int device) {
  return with_device(card, device, logic, [&](const Machine&, const DeviceLoad& found) {
    *logic = found.id;
    return kOk;
  });
}

int dcmi_get_device_phyid_from_logicid(unsigned int logic, unsigned int* physical) {
  if (physical == nullptr) return DCMI_WRONG_ARGUMENT;
  return with_machine([&](const Machine& machine) {
    if (logic >= machine.devices.size()) return int{DCMI_WRONG_ARGUMENT};
    *physical = static_cast<unsigned int>(machine.devices[logic].id);
    return kOk;
  });
}

int dcmi_get_driver_version(char* version, unsigned int length) {
  if (version == nullptr || length == 0) return DCMI_WRONG_ARGUMENT;
  return with_machine([&](const Machine& machine) {
    const std::string_view words = machine.soc.driver_version();
    const size_t size = std::min<size_t>(words.size(), length - 1);
    words.copy(version, size);
    version[size] = '\0';
    return kOk;
  });
}

int dcmi_get_device_chip_info(int card, int device, dcmiChipInfo* info) { return chip_info(card, device, info); }
int dcmi_get_device_chip_info_v2(int card, int device, dcmiChipInfoV2* info) { return chip_info(card, device, info); }

int dcmi_get_device_pcie_info_v2(int card, int device, dcmiPcieInfoV2* info) {
  return with_device(card, device, info, [&](const Machine&, const DeviceLoad& found) {
    // Vendor and device stay 0: a software NPU is no device of the bus.
    *info = {};
    info->bdf_busid = static_cast<unsigned int>(found.id) + 1;
    return kOk;
  });
}

int dcmi_get_device_hbm_info(int card, int device, dcmiHbmInfo* info) {
  return with_device(card, device, info, [&](const Machine& machine, const DeviceLoad& found) {
    *info = {};
    info->memory_size = megabytes(found.total);
    info->freq = static_cast<unsigned int>(machine.soc.memory_mhz());
    info->memory_usage = megabytes(found.used);
    info->temp = machine.soc.temperature_c(found.busy);
    return kOk;
  });
}

int dcmi_get_device_temperature(int card, int device, int* temperature) {
  return with_device(card, device, temperature, [&](const Machine& machine, const DeviceLoad& found) {
    *temperature = machine.soc.temperature_c(found.busy);
    return kOk;
  });
}

int dcmi_get_device_power_info(int card, int device, int* power) {
  return with_device(card, device, power, [&](const Machine& machine, const DeviceLoad& found) {
    *power = static_cast<int>(machine.soc.power_w(found.busy) * 10);
    return kOk;
  });
}

int dcmi_get_device_health(int card, int device, unsigned int* health) {
  return with_device(card, device, health, [&](const Machine&, const DeviceLoad&) {
    *health = 0;
    return kOk;
  });
}

int dcmi_get_device_utilization_rate(int card, int device, int type, unsigned int* rate) {
  return with_device(card, device, rate, [&](const Machine&, const DeviceLoad& found) {
    switch (type) {
      case DCMI_UTILIZATION_AICORE:
      case DCMI_UTILIZATION_NPU: *rate = static_cast<unsigned int>(found.busy); return kOk;
      case DCMI_UTILIZATION_HBM:
        *rate = found.total == 0 ? 0 : static_cast<unsigned int>(100 * found.used / found.total);
        return kOk;
      default: return int{DCMI_NOT_SUPPORTED};  // nothing measures them
    }
  });
}

int dcmi_get_device_frequency(int card, int device, int type, unsigned int* frequency) {
  return with_device(card, device, frequency, [&](const Machine& machine, const DeviceLoad& found) {
    switch (type) {
      case DCMI_FREQUENCY_HBM: *frequency = static_cast<unsigned int>(machine.soc.memory_mhz()); return kOk;
      case DCMI_FREQUENCY_AICORE: *frequency = static_cast<unsigned int>(machine.soc.core_mhz(found.busy)); return kOk;
      case DCMI_FREQUENCY_AICORE_MAX: *frequency = static_cast<unsigned int>(machine.soc.max_core_mhz()); return kOk;
      default: return int{DCMI_NOT_SUPPORTED};
    }
  });
}

int dcmi_get_device_resource_info(int card, int device, dcmiProcessMemory* processes, int* count) {
  if (count == nullptr) return DCMI_WRONG_ARGUMENT;
  return with_device(card, device, processes, [&](const Machine&, const DeviceLoad& found) {
    *count = 0;
    for (const auto& process : found.processes) {
      if (*count == kMaxProcesses) break;
      processes[(*count)++] = {process.pid, process.used};
    }
    return kOk;
  });
}
