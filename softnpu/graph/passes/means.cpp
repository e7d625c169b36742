#include "graph/passes/means.h"

#include <algorithm>
#include <vector>

namespace softnpu::graph {

size_t mean_dims(const Editor& edit, const Node& mean) {
  if (!attribute(mean, "keep_dims", false)) return 0;
  std::vector<int64_t> axes = edit.integers(mean.inputs[1]);
  std::ranges::sort(axes);
  const size_t rank = edit.dims(mean.inputs[0].value).size();
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>(rank - axes.size() + i)) return 0;
  }
  return axes.size();
}

}  // namespace softnpu::graph
