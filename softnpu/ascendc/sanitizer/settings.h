#pragma once
// What SOFTNPU_KERNEL_CHECK, SOFTNPU_KERNEL_SCHEDULE and SOFTNPU_KERNEL_TIMELINE ask for.

#include <cstdint>
#include <string>

namespace softnpu::kernel::check {

enum class Check : uint8_t { kMemcheck, kInitcheck, kSynccheck, kRacecheck, kBlockcheck };
inline constexpr int kChecks = 5;
const char* name_of(Check check);

// When queued instructions are executed: at once, as late as the flags allow, or in an order drawn from a seed.
enum class Schedule : uint8_t { kEager, kLate, kSeeded };

struct Settings {
  bool is_on = false;  // some check is, or a timeline is asked for, or a value is wrong
  bool has[kChecks] = {};
  Schedule schedule = Schedule::kLate;
  uint64_t seed = 0;
  // SOFTNPU_KERNEL_DROP, "add.cpp:12,add.cpp:14": the flags that these lines set are left out with their waits, and
  // barriers; "list": the lines that order pipes are printed. So a kernel's author sees which of them are needed.
  std::string drop;
  std::string timeline;  // SOFTNPU_KERNEL_TIMELINE, the file to write; empty: none
  std::string figures;   // SOFTNPU_KERNEL_FIGURES, the file to read
  std::string error;     // what is wrong with the variables; every launch fails with it
};

// Reads variables through `get` (getenv's signature).
Settings parse_settings(const char* (*get)(const char*));

// Of this process; read when the library is loaded, constant afterwards.
const Settings& settings();

}  // namespace softnpu::kernel::check
