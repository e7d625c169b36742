#include "monitor/soc.h"

#include <cmath>
#include <cstdio>

namespace softnpu::monitor {
namespace {

constexpr double kIdlePower = 90;
constexpr double kMaxPower = 350;
constexpr int kIdleTemperature = 38;
constexpr int kMaxTemperature = 65;
constexpr int kIdleMhz = 800;
constexpr int kMaxMhz = 1800;
constexpr int kMemoryMhz = 1600;

// From `idle` at no load to `full` at 100 percent.
double at_load(double idle, double full, int busy) { return idle + (full - idle) * busy / 100; }

}  // namespace

Layout Soc::layout() const { return name_.starts_with("Ascend910_") ? Layout::kAtlasA3 : Layout::kAtlasA2; }

std::string Soc::short_name() const {
  constexpr std::string_view kFamily = "Ascend";
  if (layout() == Layout::kAtlasA3) return "Ascend910";
  return name_.starts_with(kFamily) ? name_.substr(kFamily.size()) : name_;
}

std::string_view Soc::driver_version() const { return layout() == Layout::kAtlasA3 ? "25.2.0" : "24.1.0"; }

double Soc::power_w(int busy) const { return at_load(kIdlePower, kMaxPower, busy); }
double Soc::max_power_w() const { return kMaxPower; }
int Soc::temperature_c(int busy) const {
  return static_cast<int>(std::lround(at_load(kIdleTemperature, kMaxTemperature, busy)));
}
int Soc::core_mhz(int busy) const { return busy > 0 ? kMaxMhz : kIdleMhz; }
int Soc::max_core_mhz() const { return kMaxMhz; }
int Soc::memory_mhz() const { return kMemoryMhz; }

std::string bus_id(int id) {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02X:00.0", static_cast<unsigned>(id + 1) & 0xffU);
  return text;
}

}  // namespace softnpu::monitor
