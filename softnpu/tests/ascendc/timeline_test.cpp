// The timeline: it orders pairs of kernels as plain arithmetic does, and follows its figures.

#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ascendc/check_process.h"

namespace {

std::string temporary(const std::string& name) {
  return ::testing::TempDir() + "timeline_" + std::to_string(getpid()) + "_" + name;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct TimelineRun {
  int code = -1;
  std::string output;
  std::string trace;
  std::map<std::string, double> cycles;       // by kernel
  std::map<std::string, std::string> hashes;  // of results
};

// kernel_timelines with `figures` in a file; empty: the public ones.
TimelineRun run_timelines(const std::string& figures, const std::string& checks = "") {
  const std::string trace = temporary("trace.json");
  std::string command = "env SOFTNPU_KERNEL_TIMELINE=" + trace;
  const std::string path = temporary("figures.txt");
  if (!figures.empty()) {
    std::ofstream(path) << figures;
    command += " SOFTNPU_KERNEL_FIGURES=" + path;
  }
  TimelineRun created;
  const ProcessResult result = run_process(checks, "", command + " " + beside("kernel_timelines"));
  created.code = result.code;
  created.output = result.output;
  created.trace = read(trace);
  std::remove(trace.c_str());
  std::remove(path.c_str());
  std::istringstream lines(created.output);
  for (std::string line; std::getline(lines, line);) {
    const std::string begin = "========= timeline: kernel ";
    if (line.rfind(begin, 0) == 0) {
      const size_t comma = line.find(',');
      const size_t colon = line.find(": ", comma);
      created.cycles[line.substr(begin.size(), comma - begin.size())] = std::stod(line.substr(colon + 2));
    } else if (const size_t tab = line.find('\t'); tab != std::string::npos) {
      created.hashes[line.substr(0, tab)] = line.substr(tab + 1);
    }
  }
  return created;
}

const TimelineRun& with_public_figures() {
  static const TimelineRun run = run_timelines("");
  return run;
}

struct PairRow {
  std::string name;
  std::string reversed_by;  // "-": nothing
};
std::vector<PairRow> table() {
  std::vector<PairRow> rows;
  std::istringstream lines(run_process("", "", beside("kernel_timelines") + " --table").output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    PairRow row;
    std::getline(words, row.name, '\t');
    std::getline(words, row.reversed_by, '\t');
    rows.push_back(row);
  }
  return rows;
}

TEST(KernelTimeline, OrdersThePairs) {
  const TimelineRun& run = with_public_figures();
  ASSERT_EQ(run.code, 0) << run.output;
  const std::vector<PairRow> rows = table();
  EXPECT_EQ(rows.size(), 8u);
  for (const PairRow& row : rows) {
    ASSERT_EQ(run.cycles.count(row.name + ".slower"), 1u) << row.name << "\n" << run.output;
    EXPECT_GT(run.cycles.at(row.name + ".slower"), run.cycles.at(row.name + ".faster")) << row.name;
    EXPECT_EQ(run.hashes.at(row.name + ".slower"), run.hashes.at(row.name + ".faster")) << row.name;
  }
}

TEST(KernelTimeline, OneFigureReversesThePairsThatDependOnIt) {
  int reversed = 0;
  for (const PairRow& row : table()) {
    if (row.reversed_by == "-") continue;
    ++reversed;
    const TimelineRun run = run_timelines(row.reversed_by + "\n");
    ASSERT_EQ(run.code, 0) << run.output;
    EXPECT_LT(run.cycles.at(row.name + ".slower"), run.cycles.at(row.name + ".faster")) << row.name;
  }
  EXPECT_GE(reversed, 2);
}

// 12 bytes of each of 2^20 elements, by 1200 GB/s.
TEST(KernelTimeline, AnAdditionTakesItsBytesByTheBandwidth) {
  const double seconds = 12.0 * (1 << 20) / 1200e9;
  const double cycles = seconds * 0.83e9;
  EXPECT_NEAR(with_public_figures().cycles.at("add"), cycles, 0.1 * cycles);
}

TEST(KernelTimeline, TheSummarySaysThatItIsAModelAndWhatBounds) {
  const std::string& output = with_public_figures().output;
  const size_t at = output.find("========= timeline: kernel add, 32 blocks on 32 cores: ");
  ASSERT_NE(at, std::string::npos) << output;
  const std::string summary = output.substr(at);
  EXPECT_NE(summary.find("us by a model, not a measurement\n"), std::string::npos) << summary;
  EXPECT_NE(summary.find("bound by global memory; "), std::string::npos) << summary;
  EXPECT_NE(summary.find("global memory moves 12582912 bytes, 12582912 are needed at least: 1.00 times"),
            std::string::npos)
      << summary;
  EXPECT_NE(summary.find("V for MTE2"), std::string::npos) << summary;
}

TEST(KernelTimeline, ResultsAreThoseOfReleaseMode) {
  const ProcessResult release = run_process("", "", beside("kernel_timelines"));
  ASSERT_EQ(release.code, 0) << release.output;
  int kernels = 0;
  std::istringstream lines(release.output);
  for (std::string line; std::getline(lines, line); ++kernels) {
    const size_t tab = line.find('\t');
    EXPECT_EQ(with_public_figures().hashes.at(line.substr(0, tab)), line.substr(tab + 1));
  }
  EXPECT_EQ(kernels, 17);
}

// The same instructions in the same order give the same time.
TEST(KernelTimeline, IsTheSameInEachRunAndWithChecks) {
  EXPECT_EQ(run_timelines("").cycles, with_public_figures().cycles);
  const TimelineRun checked = run_timelines("", "1");
  EXPECT_EQ(checked.cycles, with_public_figures().cycles);
  EXPECT_EQ(checked.output.find("check: "), std::string::npos) << checked.output;
}

TEST(KernelTimeline, TheTraceIsCompleteAndNamesLines) {
  const std::string& trace = with_public_figures().trace;
  EXPECT_EQ(trace.rfind("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", 0), 0u) << trace.substr(0, 100);
  ASSERT_GE(trace.size(), 4u);
  EXPECT_EQ(trace.substr(trace.size() - 4), "\n]}\n");
  EXPECT_NE(trace.find("\"name\":\"pipe MTE2\""), std::string::npos);
  EXPECT_NE(trace.find("\"name\":\"Add\",\"args\":{\"block\":0,\"line\":\"pairs.cpp:"), std::string::npos);
  EXPECT_NE(trace.find("\"hbm_bandwidth\":1200"), std::string::npos);
}

// The text between `begin` and `end` in `text`.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t first = text.find(begin);
  if (first == std::string::npos) return "";
  const size_t last = text.find(end, first + begin.size());
  return last == std::string::npos ? "" : text.substr(first + begin.size(), last - first - begin.size());
}

TEST(KernelTimeline, ThePageHasTheListingTheSummaryAndTheFigures) {
  const std::string root = SOFTNPU_ROOT;
  const std::string page = read(root + "/docs/ascend_c/timeline.md");
  const std::string listing = between(page, "```cpp\n", "\n```\n");
  EXPECT_NE(listing.find("void add_by_queues("), std::string::npos) << listing;
  EXPECT_NE(read(root + "/softnpu/tests/ascendc/timelines/pairs.cpp").find(listing), std::string::npos) << listing;
  const std::string summary = between(page, "it prints:\n```text\n", "```\n");
  ASSERT_FALSE(summary.empty());
  EXPECT_NE(with_public_figures().output.find(summary), std::string::npos) << with_public_figures().output;
  std::istringstream rows(between(page, "|---|---|---|---|\n", "\n\n"));
  int figures = 0;
  for (std::string row; std::getline(rows, row); ++figures) {
    const std::string name = between(row, "| `", "` | ");
    std::istringstream cells(row.substr(row.find("` | ") + 4));
    std::string value, unit, source;
    std::getline(cells, value, '|');
    std::getline(cells, unit, '|');
    std::getline(cells, source, '|');
    value.pop_back();
    const auto trimmed = [](const std::string& cell) {
      const size_t first = cell.find_first_not_of(' ');
      return first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1);
    };
    const std::string& trace = with_public_figures().trace;
    EXPECT_NE(trace.find("\"" + name + "\":" + value), std::string::npos) << row;
    EXPECT_NE(trace.find("\"" + name + "\":\"" + trimmed(unit) + "; " + trimmed(source) + "\""), std::string::npos)
        << row;
  }
  const std::string all = between(with_public_figures().trace, "\"name\":\"figures\"", "}}");
  EXPECT_EQ(figures, std::count(all.begin(), all.end(), ':') - 3) << "a row for each figure: " << all;
}

struct BadFigures {
  const char* text;
  const char* part;
};
class TimelineFigures : public ::testing::TestWithParam<BadFigures> {};

TEST_P(TimelineFigures, ABadLineIsOneClearError) {
  const TimelineRun run = run_timelines(GetParam().text);
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.output.find(GetParam().part), std::string::npos) << run.output;
}

INSTANTIATE_TEST_SUITE_P(
    Slices, TimelineFigures,
    ::testing::Values(BadFigures{"# one\nhbm 1\n",
                                 "figures.txt:2: there is no figure 'hbm'; there are cores, frequency"},
                      BadFigures{"cores 0\n", "figures.txt:1: cores is '0': a number above 0 is needed"},
                      BadFigures{"burst -1\n", "burst is '-1': a number above 0 is needed, or 0"},
                      BadFigures{"burst\n", "burst is ''"}, BadFigures{"frequency 1 GHz\n", "frequency is '1 GHz'"}));

TEST(KernelTimeline, FilesThatAreNotThereAreClearErrors) {
  const std::string program = beside("kernel_timelines");
  const auto output = [&](const std::string& variables) {
    return run_process("", "", "env " + variables + " " + program).output;
  };
  EXPECT_NE(output("SOFTNPU_KERNEL_TIMELINE=/nowhere/trace.json").find("/nowhere/trace.json cannot be written"),
            std::string::npos);
  EXPECT_NE(output("SOFTNPU_KERNEL_TIMELINE=/dev/null SOFTNPU_KERNEL_FIGURES=/nowhere/figures").find("cannot be read"),
            std::string::npos);
  EXPECT_NE(output("SOFTNPU_KERNEL_FIGURES=/dev/null").find("set SOFTNPU_KERNEL_TIMELINE, too"), std::string::npos);
}

}  // namespace
