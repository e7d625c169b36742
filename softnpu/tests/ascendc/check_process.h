#pragma once
// Checks are switched on when the library is loaded: their tests run in processes of their own.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <unistd.h>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>

struct ProcessResult {
  int code;
  std::string output;  // and errors
};

// The path of this program, and of another that was built beside it.
inline std::string own_path() {
  char path[PATH_MAX] = {};
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  return length > 0 ? path : "";
}
inline std::string beside(const char* name) {
  const std::string own = own_path();
  return own.substr(0, own.rfind('/') + 1) + name;
}

// Runs `command` with these values of SOFTNPU_KERNEL_CHECK and SOFTNPU_KERNEL_SCHEDULE; empty: not set.
inline ProcessResult run_process(const std::string& checks, const std::string& schedule, const std::string& command) {
  std::string line = "env -u SOFTNPU_KERNEL_CHECK -u SOFTNPU_KERNEL_SCHEDULE -u SOFTNPU_KERNEL_DROP ";
  if (!checks.empty()) line += "SOFTNPU_KERNEL_CHECK=" + checks + " ";
  if (!schedule.empty()) line += "SOFTNPU_KERNEL_SCHEDULE=" + schedule + " ";
  line += command + " 2>&1";
  ProcessResult result{-1, ""};
  std::FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  for (size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.output.append(buffer, count);
  const int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}
