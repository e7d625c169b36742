// npu-smi: the software NPUs of this machine, in the layouts of the driver's program.

#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <thread>

#include "base/text.h"
#include "monitor/machine.h"
#include "monitor/smi/columns.h"
#include "monitor/smi/details.h"
#include "monitor/smi/json.h"
#include "monitor/smi/request.h"
#include "monitor/smi/table.h"

using softnpu::Status;
using softnpu::text;
using namespace softnpu::monitor;

namespace {

constexpr std::chrono::milliseconds kWindow(100);

// Leaves the devices that were asked for.
Status select(const Request& request, Machine* machine) {
  std::erase_if(machine->devices, [&](const DeviceLoad& device) {
    return (request.npu && *request.npu != machine->npu_of(device)) ||
           (request.chip && *request.chip != machine->chip_of(device));
  });
  if (!machine->devices.empty() || (!request.npu && !request.chip)) return Status::ok();
  return {ACL_ERROR_INVALID_PARAM,
          text("there is no ", request.npu ? text("NPU ", *request.npu) : "NPU",
               request.chip ? text(" with chip ", *request.chip) : "", ": npu-smi info -m lists them")};
}

Status watch(const Request& request, Observer* observer) {
  const auto columns = [](std::string_view npu, std::string_view chip, std::string_view power, std::string_view temp,
                          std::string_view core, std::string_view memory) {
    return text(left(npu, 10), left(chip, 10), left(power, 12), left(temp, 12), left(core, 12), memory, '\n');
  };
  std::cout << columns("NpuID", "ChipId", "Pwr(W)", "Temp(C)", "AICore(%)", "HBM-Usage(MB)");
  for (int row = 0; !request.count || row < *request.count; ++row) {
    if (row > 0) std::this_thread::sleep_for(std::chrono::seconds(request.delay_s));
    Machine machine;
    SOFTNPU_RETURN_IF_ERROR(observer->observe(kWindow, &machine));
    SOFTNPU_RETURN_IF_ERROR(select(request, &machine));
    for (const DeviceLoad& device : machine.devices) {
      std::cout << columns(std::to_string(machine.npu_of(device)), std::to_string(machine.chip_of(device)),
                           text(machine.soc.power_w(device.busy)), text(machine.soc.temperature_c(device.busy)),
                           text(device.busy), of_total(megabytes(device.used), megabytes(device.total)));
    }
    // A reader that has gone ends the program.
    if (!std::cout.flush()) return Status::ok();
  }
  return Status::ok();
}

Status run(const Request& request) {
  if (request.action == Action::kHelp) {
    std::cout << help();
    return Status::ok();
  }
  Observer observer;
  if (request.action == Action::kWatch && !request.json) return watch(request, &observer);
  Machine machine;
  SOFTNPU_RETURN_IF_ERROR(observer.observe(kWindow, &machine));
  SOFTNPU_RETURN_IF_ERROR(select(request, &machine));
  if (request.json) {
    std::cout << json(machine);
    return Status::ok();
  }
  switch (request.action) {
    case Action::kVersion: std::cout << "npu-smi version: " << machine.soc.driver_version() << " (softnpu)\n"; break;
    case Action::kList: std::cout << list(machine); break;
    case Action::kMapping: std::cout << mapping(machine); break;
    case Action::kDetails: std::cout << details(machine, request.type); break;
    default: std::cout << table(machine); break;
  }
  return Status::ok();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Request request;
    Status status = parse_request({argv + 1, static_cast<size_t>(argc - (argc > 0 ? 1 : 0))}, &request);
    if (status.is_ok()) status = run(request);
    if (status.is_ok() && std::cout.flush()) return 0;
    std::cerr << "npu-smi: " << (status.is_ok() ? "the output cannot be written" : status.message()) << '\n';
  } catch (const std::exception& e) {
    std::cerr << "npu-smi: " << e.what() << '\n';
  }
  return 1;
}
