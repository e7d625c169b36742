// instructions.tsv names every instruction of the headers with its forms, and every cell of it was compared.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ascendc/cells.h"
#include "ascendc/check_process.h"
#include "ascendc/header_functions.h"
#include "ascendc/instruction_table.h"
#include "ascendc/kernel_run.h"

namespace {

using cells::Cell;

class KernelCells : public KernelTest {};

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::set<Cell> required() {
  std::set<Cell> all;
  for (const InstructionRow& row : instruction_table()) {
    for (const std::string& type : row.types) {
      for (const std::string& variant : row.forms) all.insert({row.name, variant, type, false});
      for (const std::string& variant : row.strided) all.insert({row.name, variant, type, true});
    }
  }
  return all;
}

// What follows a form's first word says more than its mask.
std::string mask_of(const std::string& variant) {
  const std::string masks[] = {"counter", "count", "mask", "bits", "core"};
  for (const std::string& mask : masks) {
    if (variant.starts_with(mask) || variant.ends_with("-" + mask)) return mask;
  }
  return "";
}

std::vector<HeaderFunction> functions() {
  std::vector<HeaderFunction> all;
  for (const auto& entry : std::filesystem::directory_iterator(SOFTNPU_ROOT "/softnpu/ascendc/include/ascendc")) {
    for (HeaderFunction& found : functions_of(read(entry.path()))) all.push_back(std::move(found));
  }
  return all;
}

TEST(KernelCellsTable, RowsAreWhole) {
  const std::vector<InstructionRow> rows = instruction_table();
  EXPECT_GT(rows.size(), 90U);
  size_t cells = 0;
  for (const InstructionRow& row : rows) {
    EXPECT_EQ(row.forms.empty(), row.types.empty()) << row.name;
    EXPECT_EQ(row.forms.empty(), !row.reason.empty()) << row.name << ": a row has forms, or a reason why not";
    for (const std::string& variant : row.strided)
      EXPECT_EQ(std::count(row.forms.begin(), row.forms.end(), variant), 1) << row.name << ", " << variant;
    cells += row.types.size() * (row.forms.size() + row.strided.size());
  }
  EXPECT_EQ(cells, required().size()) << "two rows have the same cell";
}

TEST(KernelCellsTable, NamesEveryInstructionOfTheHeaders) {
  std::set<std::string> named;
  for (const InstructionRow& row : instruction_table()) named.insert(row.name);
  std::set<std::string> offered;
  for (const HeaderFunction& function : functions()) offered.insert(function.name);
  for (const std::string& name : offered) EXPECT_TRUE(named.contains(name)) << name << " has no row";
  for (const std::string& name : named) EXPECT_TRUE(offered.contains(name)) << name << " is in no header";
}

TEST(KernelCellsTable, ANewInstructionIsFound) {
  const std::vector<HeaderFunction> found = functions_of(R"(
    namespace AscendC {
    namespace inner { void hidden(int count) {} }
    #define SOFTNPU_KERNEL_NEW(Name, op) \
      template <typename T, bool isSetMask = true> \
      void Name(const LocalTensor<T>& dst, uint64_t mask, const Where& where = Where::current()) {}
    SOFTNPU_KERNEL_NEW(First, kFirst)
    SOFTNPU_KERNEL_NEW(Second, kSecond)  // the second
    template <typename T> void Third(const LocalTensor<T>& dst, const Mask& mask) { hidden(1); }
    int Fourth() { return 4; }
    class LocalTensor { void method() {} };
    })");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].name + found[1].name + found[2].name, "FirstSecondThird");
  EXPECT_EQ(masks_of(found[1]), (std::set<std::string>{"core", "counter", "mask"}));
  EXPECT_EQ(masks_of(found[2]), (std::set<std::string>{"bits", "counter", "mask"}));
}

TEST(KernelCellsTable, HasTheFormsOfTheHeaders) {
  std::map<std::string, std::set<std::string>> named;
  for (const InstructionRow& row : instruction_table()) {
    for (const std::string& variant : row.forms) named[row.name].insert(mask_of(variant));
    named[row.name].erase("");
  }
  std::map<std::string, std::set<std::string>> offered;
  for (const HeaderFunction& function : functions()) offered[function.name].merge(masks_of(function));
  for (const auto& [name, forms] : named) {
    if (name == "GatherMask") continue;  // its mask is a number of elements that patterns choose from
    if (!forms.empty()) {
      EXPECT_EQ(forms, offered[name]) << name;
    }
  }
}

TEST_F(KernelCells, EveryCellWasCompared) {
  cells::Family::run_the_others();
  const std::set<Cell> wanted = required();
  std::string missing;
  for (const Cell& cell : wanted) {
    if (!cells::compared().contains(cell)) missing += cell.text() + "\n";
  }
  EXPECT_EQ(missing, "") << "not compared with a reference";
  std::string unknown;
  for (const Cell& cell : cells::compared()) {
    if (!wanted.contains(cell)) unknown += cell.text() + "\n";
  }
  EXPECT_EQ(unknown, "") << "compared, and not in instructions.tsv";
}

TEST(KernelCellsChecked, EveryCellIsComparedWithoutAReport) {
  const ProcessResult checked =
      run_process("1", "late", own_path() + " --gtest_filter=KernelCells.EveryCellWasCompared");
  EXPECT_EQ(checked.code, 0) << checked.output.substr(0, 4000);
  EXPECT_NE(checked.output.find("[  PASSED  ] 1 test."), std::string::npos);
  EXPECT_EQ(checked.output.find("========= "), std::string::npos) << checked.output.substr(0, 4000);
}

}  // namespace
