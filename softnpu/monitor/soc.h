#pragma once
// The SoC that softnpu emulates, as monitors see it. A software NPU has no sensors: power, temperature and clocks are
// modelled, as functions of the measured load.

#include <string>
#include <string_view>

namespace softnpu::monitor {

// How npu-smi lays its table out.
enum class Layout {
  kAtlasA2,  // a chip is an NPU
  kAtlasA3,  // two chips are an NPU
};

class Soc {
 public:
  // `name` as SOFTNPU_SOC has it.
  explicit Soc(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }  // "Ascend910B1"
  Layout layout() const;
  // In npu-smi's table: "910B1", or "Ascend910" of an A3.
  std::string short_name() const;
  // Of the driver whose npu-smi is emulated: its text has that layout.
  std::string_view driver_version() const;
  int chips_of_npu() const { return layout() == Layout::kAtlasA3 ? 2 : 1; }

  // Modelled. `busy` is the load in percent.
  double power_w(int busy) const;
  double max_power_w() const;
  int temperature_c(int busy) const;
  int core_mhz(int busy) const;
  int max_core_mhz() const;
  int memory_mhz() const;

 private:
  std::string name_;
};

// The address on the bus that device `id` claims: "0000:01:00.0".
std::string bus_id(int id);

}  // namespace softnpu::monitor
