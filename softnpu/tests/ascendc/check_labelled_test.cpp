// The labelled kernels: each bug is reported by its check, no fixed twin is, in every schedule.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "ascendc/check_process.h"

namespace {

struct Row {
  std::string name, check, variant, found, error, hash;
  bool is_bug() const { return variant == "bug"; }
};

std::vector<Row> run_labelled(const std::string& checks, const std::string& schedule) {
  const ProcessResult result = run_process(checks, schedule, beside("kernel_checks"));
  EXPECT_EQ(result.code, 0) << result.output;
  std::vector<Row> rows;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Row row;
    words >> row.name >> row.check >> row.variant >> row.found >> row.error >> row.hash;
    rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> schedules() {
  std::vector<std::string> result{"eager", "late"};
  for (int seed = 0; seed < 20; ++seed) result.push_back("seed:" + std::to_string(seed));
  return result;
}

// All rows of all schedules, once for this process.
const std::map<std::string, std::vector<Row>>& all_runs() {
  static const auto runs = [] {
    std::map<std::string, std::vector<Row>> created;
    for (const std::string& schedule : schedules()) created[schedule] = run_labelled("1", schedule);
    return created;
  }();
  return runs;
}

TEST(CheckLabelled, EveryCheckHasFourBugs) {
  std::map<std::string, int> bugs;
  for (const Row& row : all_runs().at("late")) bugs[row.check] += row.is_bug();
  ASSERT_EQ(bugs.size(), 5u);
  for (const auto& [check, count] : bugs) EXPECT_GE(count, 4) << check;
}

TEST(CheckLabelled, EveryBugIsReportedAndNoMendedOne) {
  for (const auto& [schedule, rows] : all_runs()) {
    for (const Row& row : rows) {
      const std::string location = row.name + " " + row.variant + " with schedule " + schedule;
      if (row.is_bug()) {
        EXPECT_NE(row.found.find(row.check), std::string::npos) << location << ": found " << row.found;
        EXPECT_EQ(row.error, "507015") << location;
      } else {
        EXPECT_EQ(row.found, "-") << location;
        EXPECT_EQ(row.error, "0") << location;
      }
    }
  }
}

TEST(CheckLabelled, MendedResultsAreTheSameInAllSchedulesAndWithoutChecks) {
  std::map<std::string, std::string> release;
  for (const Row& row : run_labelled("", "")) release[row.name] = row.hash;
  for (const auto& [schedule, rows] : all_runs()) {
    for (const Row& row : rows) {
      if (row.is_bug()) continue;
      EXPECT_EQ(row.hash, release.at(row.name)) << row.name << ", " << schedule;
    }
  }
}

TEST(CheckLabelled, ASeedReplays) {
  std::set<std::string> outcomes;
  for (int seed = 0; seed < 20; ++seed) {
    const std::string schedule = "seed:" + std::to_string(seed);
    const std::vector<Row> again = run_labelled("1", schedule);
    const std::vector<Row>& first = all_runs().at(schedule);
    ASSERT_EQ(again.size(), first.size());
    std::string all;
    for (size_t i = 0; i < again.size(); ++i) {
      if (again[i].check == "blockcheck" && again[i].is_bug()) continue;  // which block comes first is not drawn
      EXPECT_EQ(again[i].hash, first[i].hash) << again[i].name << " " << again[i].variant << ", " << schedule;
      all += again[i].hash;
    }
    outcomes.insert(all);
  }
  EXPECT_GT(outcomes.size(), 1u) << "all seeds give one order";
}

TEST(CheckLabelled, TheLatestOrderShowsWhatTheEagerHides) {
  const auto hash = [](const std::string& schedule, const char* variant) {
    for (const Row& row : all_runs().at(schedule)) {
      if (row.name == "sum_before_copy" && row.variant == variant) return row.hash;
    }
    return std::string();
  };
  EXPECT_EQ(hash("eager", "bug"), hash("eager", "fixed"));
  EXPECT_NE(hash("late", "bug"), hash("late", "fixed"));
}

TEST(CheckLabelled, OnlyTheChecksThatAreAskedForReport) {
  for (const Row& row : run_labelled("racecheck,synccheck", "")) {
    if (row.check == "racecheck" || row.check == "synccheck") {
      EXPECT_EQ(row.found != "-", row.is_bug()) << row.name;
    } else {
      EXPECT_EQ(row.found.find("initcheck"), std::string::npos) << row.name;
    }
  }
}

// Whether racecheck reports something where timed_add does not order what these lines order.
bool is_race_without(const std::string& lines) {
  const std::string add = beside("kernel_checks") + " --add";
  const std::string output = run_process("1", "", "env SOFTNPU_KERNEL_DROP=" + lines + " " + add).output;
  return output.find("========= racecheck: ") != std::string::npos;
}

TEST(CheckLabelled, AnAdditionNeedsItsFlags) {
  const std::string add = beside("kernel_checks") + " --add";
  std::istringstream output(run_process("1", "", "env SOFTNPU_KERNEL_DROP=list " + add).output);
  const std::string begin = "========= orders pipes: ";
  std::vector<std::string> lines;
  for (std::string line; std::getline(output, line);) {
    if (const size_t at = line.find(begin); at != std::string::npos) lines.push_back(line.substr(at + begin.size()));
  }
  ASSERT_EQ(lines.size(), 7u) << output.str();
  const auto& [pipe, enque_x, enque_y, enque_out, free_x, free_y, free_out] =
      std::tie(lines[0], lines[1], lines[2], lines[3], lines[4], lines[5], lines[6]);
  EXPECT_TRUE(is_race_without(enque_out));
  EXPECT_TRUE(is_race_without(free_out));
  // Of two flags between the same pipes, one behind the other, either orders what is before both.
  EXPECT_FALSE(is_race_without(enque_x));
  EXPECT_FALSE(is_race_without(enque_y));
  EXPECT_TRUE(is_race_without(enque_x + "," + enque_y));
  EXPECT_FALSE(is_race_without(free_x));
  EXPECT_FALSE(is_race_without(free_y));
  EXPECT_TRUE(is_race_without(free_x + "," + free_y));
  // Behind the end of TPipe there is nothing to be ordered.
  EXPECT_FALSE(is_race_without(pipe));
}

struct BadValue {
  const char* checks;
  const char* schedule;
  const char* part;
};

class CheckSettings : public ::testing::TestWithParam<BadValue> {};

TEST_P(CheckSettings, ABadValueIsOneClearError) {
  const ProcessResult result = run_process(GetParam().checks, GetParam().schedule, beside("kernel_checks") + " --time");
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.output.find(GetParam().part), std::string::npos) << result.output;
}

INSTANTIATE_TEST_SUITE_P(
    Values, CheckSettings,
    ::testing::Values(BadValue{"memchek", "", "SOFTNPU_KERNEL_CHECK=memchek is not understood: it takes 1, or some of"},
                      BadValue{"memcheck,2", "", "SOFTNPU_KERNEL_CHECK=memcheck,2 is not understood"},
                      BadValue{"1", "lazy", "is not understood: it takes eager, late or seed:N"},
                      BadValue{"1", "seed:x", "is not understood: it takes eager, late or seed:N"},
                      BadValue{"1", "seed:", "is not understood: it takes eager, late or seed:N"},
                      BadValue{"", "late", "set SOFTNPU_KERNEL_CHECK=1, too"}));

}  // namespace
