#include "monitor/machine.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

#include "base/environment.h"
#include "runtime/config.h"

namespace softnpu::monitor {
namespace {

// The process's use of `device` in an earlier sample; null if it had none.
const DeviceUse* find_use(const std::vector<ProcessPage>& pages, pid_t pid, int device) {
  const auto page = std::ranges::find(pages, pid, &ProcessPage::pid);
  if (page == pages.end()) return nullptr;
  const auto use = std::ranges::find(page->devices, device, &DeviceUse::device);
  return use == page->devices.end() ? nullptr : &*use;
}

int percent(uint64_t busy_ns, std::chrono::nanoseconds passed) {
  if (passed.count() <= 0) return 0;
  const double share = static_cast<double>(busy_ns) / static_cast<double>(passed.count());
  // A device that did anything is not idle.
  return busy_ns == 0 ? 0 : std::clamp(static_cast<int>(std::lround(100 * share)), 1, 100);
}

// What the variables of this process say; else what the processes on softnpu say.
std::string soc_name(const std::vector<ProcessPage>& pages) {
  return environment::is_set("SOFTNPU_SOC") || pages.empty() ? config().soc_name : pages.front().soc;
}

}  // namespace

Observer::Sample Observer::sample() { return {std::chrono::steady_clock::now(), read_pages()}; }

Status Observer::observe(std::chrono::milliseconds window, Machine* out) {
  constexpr std::chrono::seconds kTooOld(2);
  SOFTNPU_RETURN_IF_ERROR(config_status());
  Sample latest;
  if (!newest_ || std::chrono::steady_clock::now() - newest_->at > kTooOld) {
    before_ = sample();
    std::this_thread::sleep_for(window);
    newest_ = latest = sample();
  } else {
    latest = sample();
    if (latest.at - newest_->at >= window) before_ = std::exchange(newest_, latest);
  }
  const auto& pages = latest.pages;
  *out = {};
  out->soc = Soc(soc_name(pages));
  out->cores = config().cores;
  int count = config().installed;
  for (const ProcessPage& page : pages) count = std::max(count, page.installed);
  for (int id = 0; id < count; ++id) {
    DeviceLoad device;
    device.id = id;
    for (const ProcessPage& page : pages) {
      const auto use = std::ranges::find(page.devices, id, &DeviceUse::device);
      if (use == page.devices.end()) continue;
      const DeviceUse* earlier = find_use(before_->pages, page.pid, id);
      const uint64_t start = earlier == nullptr ? use->busy_ns : std::min(earlier->busy_ns, use->busy_ns);
      device.processes.push_back(
          {page.pid, page.name, use->used, percent(use->busy_ns - start, latest.at - before_->at)});
      device.busy = std::min(100, device.busy + device.processes.back().busy);
      device.used += use->used;
      device.total = std::max(device.total, use->capacity);
    }
    if (device.total == 0) device.total = config().hbm_bytes;
    // Processes share the host's memory: each may use all of it.
    device.total = std::max(device.total, device.used);
    out->devices.push_back(std::move(device));
  }
  return Status::ok();
}

}  // namespace softnpu::monitor
