#pragma once
// What a check has found, as data and as text.

#include <cstdint>
#include <mutex>
#include <set>
#include <source_location>
#include <string>
#include <vector>

#include "ascendc/sanitizer/settings.h"
#include "softnpu_kernel/instruction.h"

namespace softnpu::kernel::check {

const char* name_of(Pipe pipe);

struct Report {
  Check check{};
  std::string what;         // one sentence
  std::string instruction;  // as the kernel writes it
  Pipe pipe = Pipe::kS;
  std::source_location where;
  std::source_location other;        // of the access or call that it is in conflict with
  std::vector<std::string> details;  // lines: operand, tensor, allocation, the other access
  std::string kernel;
  uint32_t block = 0;

  std::string text() const;
  bool is_same_as(const Report& other_report) const;
};

// The reports of all blocks of a launch.
class LaunchReports {
 public:
  static constexpr size_t kMax = 100;

  // `launch_site`: the line of the program that launches; may be empty.
  explicit LaunchReports(std::string launch_site) : launch_site_(std::move(launch_site)) {}

  // A block's reports, at its end. Any thread.
  void add(std::vector<Report> reports);
  // The lines of a block that order pipes, to be printed. Any thread.
  void add_ordering_lines(const std::set<std::string>& lines);
  // Prints them to stderr, by block, each pair of lines once, at most kMost. Returns the first one's text; empty where
  // there is none. When all blocks have ended.
  std::string finish();

 private:
  std::string launch_site_;
  std::mutex mutex_;
  std::vector<std::vector<Report>> blocks_;  // guarded by mutex_
  std::set<std::string> ordering_lines_;     // guarded by mutex_
};

}  // namespace softnpu::kernel::check
