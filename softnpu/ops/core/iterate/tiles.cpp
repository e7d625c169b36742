#include "ops/core/iterate/tiles.h"

#include <utility>

#include "ops/core/iterate/short_runs.h"

namespace softnpu {

Tiles::Tiles(Space space, std::span<const Use> uses) : space_(std::move(space)) {
  for (size_t k = 0; k < space_.operands(); ++k) {
    OperandAccess& operand = accesses_[k];
    const aclDataType dtype = space_.operand(k).dtype;
    operand.reader = ElementReader(dtype, uses[k].as);
    operand.writer = ElementWriter(uses[k].as, dtype);
    operand.compute_bytes = static_cast<int64_t>(compute_type_size(compute_type_of(uses[k].as)));
    operand.access = uses[k].access;
    operand.is_direct = !space_.operand(k).is_constant && operand.reader.is_direct();
    operand.in_place = operand.is_direct && space_.is_contiguous(k);
    operand.has_short_runs = operand.is_direct && softnpu::has_short_runs(space_);
  }
}

void* Tiles::load(size_t k, int64_t at, int64_t count, char* buffer) const {
  const OperandAccess& operand = accesses_[k];
  if (operand.in_place) return space_.operand(k).data + at * operand.compute_bytes;
  if (operand.is_direct) {
    if (char* chunk = space_.chunk(k, at, count, operand.compute_bytes)) return chunk;
  }
  if (operand.access == Access::kWrite) return buffer;
  if (operand.has_short_runs) {
    move_short_runs<false>(space_, k, at, count, static_cast<size_t>(operand.compute_bytes), buffer);
    return buffer;
  }
  char* to = buffer;
  space_.for_runs(k, at, count, [&](const char* from, ptrdiff_t stride, size_t here) {
    operand.reader.read(from, stride, here, to);
    to += static_cast<int64_t>(here) * operand.compute_bytes;
  });
  return buffer;
}

void Tiles::put_back(size_t k, int64_t at, int64_t count, char* buffer) const {
  const OperandAccess& operand = accesses_[k];
  if (operand.access == Access::kRead) return;
  if (operand.has_short_runs) {
    return move_short_runs<true>(space_, k, at, count, static_cast<size_t>(operand.compute_bytes), buffer);
  }
  space_.for_runs(k, at, count, [&](char* to, ptrdiff_t stride, size_t here) {
    operand.writer.write(buffer, here, to, stride);
    buffer += static_cast<int64_t>(here) * operand.compute_bytes;
  });
}

}  // namespace softnpu
