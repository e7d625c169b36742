#include "core/tuned_works.h"

#include "core/aclnn.h"
#include "softnpu/tuning.h"

namespace torch_npu {

std::vector<TunedWork> tuned_works() {
  static const auto visit = reinterpret_cast<decltype(&softnpuVisitTuned)>(aclnn_symbol("softnpuVisitTuned"));
  std::vector<TunedWork> works;
  if (visit == nullptr) return works;
  const auto add = [](const softnpuTunedWork* work, void* to) {
    TunedWork one{work->work, work->uses, work->chosen, {}};
    for (std::size_t i = 0; i < work->count; ++i) {
      one.candidates.emplace_back(work->candidates[i].name, work->candidates[i].microseconds);
    }
    static_cast<std::vector<TunedWork>*>(to)->push_back(std::move(one));
  };
  visit(add, &works);
  return works;
}

void log_algorithms(bool on) {
  static const auto log = reinterpret_cast<decltype(&softnpuLogAlgorithms)>(aclnn_symbol("softnpuLogAlgorithms"));
  if (log != nullptr) log(on ? 1 : 0);
}

std::vector<ServedWork> served_works() {
  static const auto visit = reinterpret_cast<decltype(&softnpuVisitServed)>(aclnn_symbol("softnpuVisitServed"));
  std::vector<ServedWork> works;
  if (visit == nullptr) return works;
  const auto add = [](const softnpuServedWork* work, void* to) {
    ServedWork one{work->work, work->algorithm, work->uses, {}};
    for (std::size_t i = 0; i < work->count; ++i) one.refused.emplace_back(work->refused[i].name, work->refused[i].why);
    static_cast<std::vector<ServedWork>*>(to)->push_back(std::move(one));
  };
  visit(add, &works);
  return works;
}

std::vector<AlgorithmRow> algorithm_rows() {
  static const auto visit = reinterpret_cast<decltype(&softnpuVisitAlgorithms)>(aclnn_symbol("softnpuVisitAlgorithms"));
  std::vector<AlgorithmRow> rows;
  if (visit == nullptr) return rows;
  const auto add = [](const softnpuAlgorithm* row, void* to) {
    static_cast<std::vector<AlgorithmRow>*>(to)->push_back({row->table, row->name, row->isTimed != 0});
  };
  visit(add, &rows);
  return rows;
}

}  // namespace torch_npu
