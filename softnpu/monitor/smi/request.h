#pragma once
// The command line of npu-smi.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace softnpu::monitor {

enum class Action { kHelp, kVersion, kTable, kList, kMapping, kDetails, kWatch };

struct Request {
  Action action = Action::kTable;
  std::string type;         // of kDetails: -t
  std::optional<int> npu;   // -i
  std::optional<int> chip;  // -c
  bool json = false;
  int delay_s = 1;           // of kWatch: -d
  std::optional<int> count;  // of kWatch: -n rows; else without an end
};

// The text of `npu-smi --help`.
std::string help();

Status parse_request(std::span<const char* const> arguments, Request* out);

}  // namespace softnpu::monitor
