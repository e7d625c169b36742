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

}  // namespace torch_npu
