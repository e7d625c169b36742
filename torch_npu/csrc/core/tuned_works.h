#pragma once
// Which algorithms serve operators, and what softnpu's automatic tuning chose (softnpu/tuning.h).

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace torch_npu {

// An operator and a shape of which several implementations may serve.
struct TunedWork {
  std::string work;
  std::uint64_t uses = 0;   // planned calls
  std::int32_t chosen = 0;  // the index of the candidate that serves; -1 before the first run
  std::vector<std::pair<std::string, double>> candidates;  // name, and the microseconds of its fastest run or 0
};

// Empty on a CANN other than softnpu.
std::vector<TunedWork> tuned_works();

// An operator and a shape, and the row of its table of algorithms that serves it.
struct ServedWork {
  std::string work;
  std::string algorithm;
  std::uint64_t uses = 0;                                    // planned calls
  std::vector<std::pair<std::string, std::string>> refused;  // the rows above it, and why they do not serve it
};

// A row of a table of algorithms: the table, its name, and whether it serves only where it was timed.
struct AlgorithmRow {
  std::string table;
  std::string name;
  bool is_timed = false;
};

// From log_algorithms(true) to log_algorithms(false) operators write down the algorithms that serve them. Without
// effect, and empty, on a CANN other than softnpu.
void log_algorithms(bool on);
std::vector<ServedWork> served_works();
std::vector<AlgorithmRow> algorithm_rows();

}  // namespace torch_npu
