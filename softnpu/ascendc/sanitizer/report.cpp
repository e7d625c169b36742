#include "ascendc/sanitizer/report.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ascendc/sanitizer/local_buffers.h"

namespace softnpu::kernel::check {
namespace {

bool is_same_line(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() && std::strcmp(a.file_name(), b.file_name()) == 0;
}

}  // namespace

const char* name_of(Pipe pipe) {
  constexpr const char* kNames[kPipes] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"};
  return kNames[static_cast<int>(pipe)];
}

std::string Report::text() const {
  std::string result = std::string("========= ") + check::name_of(check) + ": " + what + "\n";
  const auto line = [&](const std::string& content) { result += "=========     " + content + "\n"; };
  std::string location = "kernel " + kernel + ", block " + std::to_string(block) + ", ";
  if (!instruction.empty()) location += instruction + " on pipe " + check::name_of(pipe) + ", ";
  line(location + line_of(where));
  for (const std::string& detail : details) line(detail);
  return result;
}

bool Report::is_same_as(const Report& other_report) const {
  return check == other_report.check && kernel == other_report.kernel && is_same_line(where, other_report.where) &&
         is_same_line(other, other_report.other);
}

void LaunchReports::add(std::vector<Report> reports) {
  if (reports.empty()) return;
  const std::lock_guard lock(mutex_);
  blocks_.push_back(std::move(reports));
}

void LaunchReports::add_ordering_lines(const std::set<std::string>& lines) {
  if (lines.empty()) return;
  const std::lock_guard lock(mutex_);
  ordering_lines_.insert(lines.begin(), lines.end());
}

std::string LaunchReports::finish() {
  const std::lock_guard lock(mutex_);
  for (const std::string& line : ordering_lines_) std::fprintf(stderr, "========= orders pipes: %s\n", line.c_str());
  std::sort(blocks_.begin(), blocks_.end(), [](const auto& a, const auto& b) { return a[0].block < b[0].block; });
  std::vector<const Report*> distinct;
  for (const auto& reports : blocks_) {
    for (const Report& report : reports) {
      if (std::none_of(distinct.begin(), distinct.end(), [&](const Report* had) { return had->is_same_as(report); }))
        distinct.push_back(&report);
    }
  }
  if (distinct.empty()) return {};
  const std::string launched = launch_site_.empty() ? "" : "=========     launched at " + launch_site_ + "\n";
  std::string all;
  for (size_t i = 0; i < distinct.size() && i < kMax; ++i) all += distinct[i]->text() + launched;
  if (distinct.size() > kMax)
    all += "========= " + std::to_string(distinct.size() - kMax) + " more reports are not printed\n";
  std::fputs(all.c_str(), stderr);
  return distinct.front()->text() + launched;
}

}  // namespace softnpu::kernel::check
