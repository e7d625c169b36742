// docs/ascend_c/checked_mode.md: its listings are the labelled kernels', its reports are those that are printed.

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "ascendc/check_process.h"

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The text between `begin` and `end`, which follow one another in `text` from `*at` on; *at becomes the end.
std::string between(const std::string& text, const std::string& begin, const std::string& end, size_t* at) {
  const size_t first = text.find(begin, *at);
  if (first == std::string::npos) return "";
  const size_t last = text.find(end, first + begin.size());
  if (last == std::string::npos) return "";
  *at = last + end.size();
  return text.substr(first + begin.size(), last - first - begin.size());
}

// Where device memory begins differs from run to run.
std::string without_addresses(const std::string& text) {
  return std::regex_replace(text, std::regex("0x[0-9a-f]{9,}"), "ADDRESS");
}

TEST(CheckDocument, ListingsAndReportsAreThoseOfTheKernels) {
  const std::string root = SOFTNPU_ROOT;
  const std::string page = read(root + "/docs/ascend_c/checked_mode.md");
  int sections = 0;
  for (const std::string check : {"memcheck", "initcheck", "synccheck", "racecheck", "blockcheck"}) {
    size_t at = 0;
    const std::string name = between(page, "### " + check + ": ", "\n", &at);
    ASSERT_FALSE(name.empty()) << "no bug of " << check;
    const std::string listing = between(page, "```cpp\n", "\n```\n", &at);
    const std::string report = between(page, "```text\n", "```\n", &at);
    const std::string source = read(root + "/softnpu/tests/ascendc/labelled/" + check + ".cpp");
    EXPECT_NE(listing.find("void " + name + "("), std::string::npos) << listing;
    EXPECT_NE(source.find(listing), std::string::npos) << "the page's listing of " << name << " is another one:\n"
                                                       << listing;
    const std::string printed = run_process("1", "", beside("kernel_checks") + " --report " + name).output;
    EXPECT_EQ(without_addresses(report), without_addresses(printed)) << name;
    ++sections;
  }
  EXPECT_EQ(sections, 5);
}

}  // namespace
