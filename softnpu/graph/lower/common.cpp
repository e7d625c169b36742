#include <numeric>

#include "base/text.h"
#include "graph/lower/rows.h"

namespace softnpu::graph {

bool is_floating(aclDataType dtype) {
  return dtype == ACL_FLOAT || dtype == ACL_DOUBLE || dtype == ACL_FLOAT16 || dtype == ACL_BF16;
}

bool is_integral(aclDataType dtype) { return !is_floating(dtype) && dtype != ACL_BOOL; }

void check_constant(const Ints& sizes, double times) {
  constexpr double kMaxElements = 1 << 26;
  for (const int64_t size : sizes) {
    if (size < 0) throw Refused(text("a size of ", size));
    times *= static_cast<double>(size);
  }
  if (times > kMaxElements) throw Refused(text("a constant of ", times, " elements is needed"));
}

Ints iota(int64_t count, int64_t first) {
  check_constant({count});
  Ints values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

ValueId wrapped(Builder& build, ValueId indices, int64_t size) {
  indices = build.cast(indices, ACL_INT64);
  if (build.is_known(indices)) {
    Ints values = build.ints_of(indices);
    for (int64_t& value : values) value += value < 0 ? size : 0;
    return build.ints(values, build.sizes(indices));
  }
  const ValueId is_negative = build.emit("Less", {{indices}, build.host_int(0)});
  return build.emit("Select", {{is_negative}, {build.shifted(indices, static_cast<double>(size))}, {indices}});
}

ValueId along(Builder& build, ValueId x, int64_t dim, int64_t rank) {
  Ints sizes(static_cast<size_t>(rank), 1);
  sizes[dim] = build.count(x);
  return build.view(x, sizes);
}

ValueId padded(Builder& build, ValueId x, const Ints& before, const Ints& after, double value) {
  Ints pairs;
  bool is_empty = true;
  for (size_t i = 0; i < before.size(); ++i) {
    pairs.push_back(before[i]);
    pairs.push_back(after[i]);
    is_empty &= before[i] == 0 && after[i] == 0;
  }
  if (is_empty) return x;
  return build.emit("PadV3", {{x}, build.host(pairs), build.number_for(x, value)});
}

}  // namespace softnpu::graph
