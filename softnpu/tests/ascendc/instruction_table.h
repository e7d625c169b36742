#pragma once
// The rows of instructions.tsv.

#include <string>
#include <vector>

struct InstructionRow {
  std::string name;
  std::vector<std::string> forms, strided, types;
  std::string reason;  // why it has no forms
};

// A line that is no row fails the calling test.
std::vector<InstructionRow> instruction_table();
