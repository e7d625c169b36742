#pragma once
// What softnpu's automatic tuning chose (softnpu/tuning.h).

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

}  // namespace torch_npu
