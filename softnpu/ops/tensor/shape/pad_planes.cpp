// Padding of small planes by reflection and replication, and its gradient, by a table (ops/planes).

#include <algorithm>
#include <array>
#include <utility>

#include "ops/core/planes/planes.h"
#include "ops/tensor/shape/padding.h"

namespace softnpu {
namespace {

// For each padded position, the one that it copies.
std::vector<int64_t> sources(PadMode mode, const Padding& padding) {
  std::vector<int64_t> from;
  const int64_t last = padding.size - 1;
  for (int64_t i = 0; i < padding.padded(); ++i) {
    const int64_t at = i - padding.before;
    if (mode == PadMode::kReflect) {
      const int64_t reflected = at < 0 ? -at : at;
      from.push_back(reflected > last ? 2 * last - reflected : reflected);
    } else {
      from.push_back(std::clamp<int64_t>(at, 0, last));
    }
  }
  return from;
}

bool is_dense(const View& view) {
  int64_t next = view.element();
  for (size_t i = view.rank(); i-- > 0; next *= view.sizes[i]) {
    if (view.sizes[i] != 1 && view.strides[i] != next) return false;
  }
  return true;
}

}  // namespace

std::optional<Plan> plan_pad_of_planes(PadMode mode, const std::vector<Padding>& paddings, const View& small,
                                       const View& large, bool backward) {
  if (small.dtype != ACL_FLOAT || large.dtype != ACL_FLOAT || !is_dense(small) || !is_dense(large)) return std::nullopt;
  constexpr size_t kMaxDims = 3;
  std::array<Padding, kMaxDims> padded{Padding{}, Padding{}, Padding{}};
  if (paddings.size() > kMaxDims) return std::nullopt;
  std::ranges::copy(paddings, padded.end() - static_cast<ptrdiff_t>(paddings.size()));
  int64_t values = 1;
  int64_t all = 1;
  for (const Padding& of : padded) {
    values *= of.size;
    all *= of.padded();
  }
  if (values <= 0 || all <= 0) return std::nullopt;
  const int64_t planes = small.count() / values;
  if (!fits_planes(planes, values, all)) return std::nullopt;
  const auto planes_from = sources(mode, padded[0]);
  const auto rows_from = sources(mode, padded[1]);
  const auto columns_from = sources(mode, padded[2]);
  PlaneTable table(values);
  for (const int64_t plane : planes_from) {
    for (const int64_t row : rows_from) {
      for (const int64_t column : columns_from) {
        table.add((plane * padded[1].size + row) * padded[2].size + column);
        table.end_row();
      }
    }
  }
  PlanesProblem created{PlaneOp::kSum, backward ? table.transposed() : std::move(table)};
  created.planes = planes;
  created.source = reinterpret_cast<const float*>((backward ? large : small).data);
  created.result = reinterpret_cast<float*>((backward ? small : large).data);
  return plan_planes(std::move(created));
}

}  // namespace softnpu
