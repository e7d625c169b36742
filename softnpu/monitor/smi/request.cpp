#include "monitor/smi/request.h"

#include <charconv>
#include <string_view>

#include "base/text.h"
#include "monitor/smi/details.h"

namespace softnpu::monitor {
namespace {

Status wrong(std::string sentence) { return {ACL_ERROR_INVALID_PARAM, std::move(sentence)}; }

Status parse_number(std::string_view option, std::string_view word, int least, int* out) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *out);
  if (error == std::errc() && end == word.data() + word.size() && *out >= least) return Status::ok();
  return wrong(text(option, " takes a whole number from ", least, ", not '", word, "'"));
}

Status parse_option(std::string_view option, std::string_view value, Request* out) {
  int number = 0;
  if (option == "-t") {
    out->action = Action::kDetails;
    out->type = value;
    return check_type(value);
  }
  SOFTNPU_RETURN_IF_ERROR(parse_number(option, value, option == "-d" || option == "-n" ? 1 : 0, &number));
  if (option == "-i") out->npu = number;
  if (option == "-c") out->chip = number;
  if (option == "-d") out->delay_s = number;
  if (option == "-n") out->count = number;
  return Status::ok();
}

}  // namespace

std::string help() {
  return text(
      "npu-smi of softnpu: the software NPUs of this machine, and this user's processes on them.\n\n"
      "  npu-smi info                         a table of all NPUs and their processes\n"
      "  npu-smi info -l                      the NPUs\n"
      "  npu-smi info -m                      NPU, chip and physical number of each\n"
      "  npu-smi info -t TYPE [-i NPU] [-c CHIP]\n"
      "                                       TYPE: ",
      type_names(),
      "\n"
      "  npu-smi info watch [-i NPU] [-c CHIP] [-d SECONDS] [-n ROWS]\n"
      "  npu-smi info --json [-i NPU] [-c CHIP]\n"
      "                                       everything, with what is modelled apart from what is measured\n"
      "  npu-smi -v                           the version\n\n"
      "Power, temperature, clocks, health and bus addresses are modelled: a software NPU has no sensors.\n");
}

Status parse_request(std::span<const char* const> arguments, Request* out) {
  if (arguments.empty()) return wrong("there is no command: npu-smi info, or npu-smi --help");
  const std::string_view command = arguments.front();
  if (command == "-h" || command == "--help") {
    out->action = Action::kHelp;
    return Status::ok();
  }
  if (command == "-v" || command == "--version") {
    out->action = Action::kVersion;
    return Status::ok();
  }
  if (command != "info") return wrong(text("'", command, "' is no command of softnpu's: there is npu-smi info"));
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == "-l") {
      out->action = Action::kList;
    } else if (word == "-m") {
      out->action = Action::kMapping;
    } else if (word == "watch") {
      out->action = Action::kWatch;
    } else if (word == "--json") {
      out->json = true;
    } else if (word == "-h" || word == "--help") {
      out->action = Action::kHelp;
      return Status::ok();
    } else if (word == "-t" || word == "-i" || word == "-c" || word == "-d" || word == "-n") {
      if (i + 1 == arguments.size()) return wrong(text(word, " needs a value behind it"));
      SOFTNPU_RETURN_IF_ERROR(parse_option(word, arguments[++i], out));
    } else {
      return wrong(text("npu-smi info knows no '", word, "': npu-smi --help lists what it knows"));
    }
  }
  return Status::ok();
}

}  // namespace softnpu::monitor
