#include "ascendc/instruction_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}
std::vector<std::string> words(const std::string& text) {
  return text == "-" ? std::vector<std::string>{} : split(text, ' ');
}

}  // namespace

std::vector<InstructionRow> instruction_table() {
  std::vector<InstructionRow> rows;
  const std::string path = SOFTNPU_ROOT "/softnpu/tests/ascendc/instructions.tsv";
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    const std::vector<std::string> columns = split(line, '\t');
    if (columns.size() < 4) {
      ADD_FAILURE() << path << ": a row of less than 4 columns: " << line;
      continue;
    }
    rows.push_back(
        {columns[0], words(columns[1]), words(columns[2]), words(columns[3]), columns.size() > 4 ? columns[4] : ""});
  }
  return rows;
}
