#include "ascendc/sanitizer/settings.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "softnpu/environment.h"
#include "softnpu_kernel/core.h"

namespace softnpu::kernel::check {
namespace {

constexpr std::string_view kNames[kChecks] = {"memcheck", "initcheck", "synccheck", "racecheck", "blockcheck"};

void parse_checks(std::string_view value, Settings* out) {
  if (value.empty() || value == "0") return;
  if (value == "1") {
    std::fill_n(out->has, kChecks, true);
    return;
  }
  for (std::string_view rest = value; !rest.empty();) {
    const size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const auto* found = std::find(kNames, kNames + kChecks, word);
    if (found == kNames + kChecks) {
      out->error = environment::misunderstood("SOFTNPU_KERNEL_CHECK", value,
                                              "1, or some of memcheck,initcheck,synccheck,racecheck,blockcheck");
      return;
    }
    out->has[found - kNames] = true;
  }
}

void parse_schedule(std::string_view value, Settings* out) {
  if (value == "eager") {
    out->schedule = Schedule::kEager;
  } else if (value == "late") {
    out->schedule = Schedule::kLate;
  } else {
    constexpr std::string_view kSeed = "seed:";
    const char* end = value.data() + value.size();
    const bool is_seed = value.starts_with(kSeed);
    const auto [stop, status] = is_seed ? std::from_chars(value.data() + kSeed.size(), end, out->seed)
                                        : std::from_chars_result{value.data(), std::errc::invalid_argument};
    if (status != std::errc() || stop != end) {
      out->error = environment::misunderstood("SOFTNPU_KERNEL_SCHEDULE", value, "eager, late or seed:N");
    }
    out->schedule = Schedule::kSeeded;
  }
}

}  // namespace

const char* name_of(Check check) { return kNames[static_cast<int>(check)].data(); }

Settings parse_settings(environment::Get get) {
  Settings result;
  parse_checks(environment::text("SOFTNPU_KERNEL_CHECK", get), &result);
  const bool has_some = std::any_of(result.has, result.has + kChecks, [](bool is) { return is; });
  parse_schedule(environment::text("SOFTNPU_KERNEL_SCHEDULE", get), &result);
  if (environment::is_set("SOFTNPU_KERNEL_SCHEDULE", get)) {
    if (!has_some && result.error.empty())
      result.error = "SOFTNPU_KERNEL_SCHEDULE is set, but kernels are not checked: set SOFTNPU_KERNEL_CHECK=1, too";
  }
  result.drop = environment::text("SOFTNPU_KERNEL_DROP", get);
  if (!result.drop.empty() && !has_some && result.error.empty())
    result.error = "SOFTNPU_KERNEL_DROP is set, but kernels are not checked: set SOFTNPU_KERNEL_CHECK=1, too";
  result.timeline = environment::text("SOFTNPU_KERNEL_TIMELINE", get);
  result.figures = environment::text("SOFTNPU_KERNEL_FIGURES", get);
  if (!result.figures.empty() && result.timeline.empty() && result.error.empty())
    result.error = "SOFTNPU_KERNEL_FIGURES is set, but no timeline is asked for: set SOFTNPU_KERNEL_TIMELINE, too";
  if (!has_some) result.schedule = Schedule::kEager;
  result.is_on = has_some || !result.timeline.empty() || !result.error.empty();
  return result;
}

const Settings& settings() {
  static const Settings value = parse_settings(&environment::get_from_process);
  return value;
}

}  // namespace softnpu::kernel::check

namespace softnpu::kernel {

const bool is_checked = check::settings().is_on;

}  // namespace softnpu::kernel
