#include "ops/core/iterate/tiles.h"

#include <utility>

#include "ops/core/iterate/gather.h"

namespace softnpu {

Tiles::Tiles(Space space, std::span<const Use> uses, Length length) : space_(std::move(space)) {
  for (size_t k = 0; k < space_.operands(); ++k) {
    OperandAccess& operand = accesses_[k];
    const aclDataType dtype = space_.operand(k).dtype;
    operand.reader = ElementReader(dtype, uses[k].as);
    operand.writer = ElementWriter(uses[k].as, dtype);
    operand.compute_bytes = static_cast<int64_t>(compute_type_size(compute_type_of(uses[k].as)));
    operand.access = uses[k].access;
    operand.is_direct = !space_.operand(k).is_constant && operand.reader.is_direct();
    operand.in_place = operand.is_direct && space_.is_contiguous(k);
  }
  const size_t inner = space_.dims() - 1;
  bool runs = space_.size(inner) >= kMinRun;
  bool gaps = false;
  for (size_t k = 0; k < space_.operands(); ++k) {
    runs = runs && accesses_[k].is_direct && space_.stride(k, inner) == accesses_[k].compute_bytes;
    gaps = gaps || !accesses_[k].in_place;
  }
  has_runs_in_place_ = length == Length::kAny && runs && gaps;
}

void* Tiles::load(size_t k, int64_t at, int64_t count, char* buffer) const {
  const OperandAccess& operand = accesses_[k];
  if (operand.in_place) return space_.operand(k).data + at * operand.compute_bytes;
  if (operand.is_direct) {
    if (char* chunk = space_.chunk(k, at, count, operand.compute_bytes)) return chunk;
  }
  if (operand.access == Access::kWrite) return buffer;
  gather(space_, k, operand.reader, at, count, static_cast<size_t>(operand.compute_bytes), buffer);
  return buffer;
}

void Tiles::put_back(size_t k, int64_t at, int64_t count, const char* buffer) const {
  const OperandAccess& operand = accesses_[k];
  if (operand.access == Access::kRead) return;
  scatter(space_, k, operand.writer, at, count, static_cast<size_t>(operand.compute_bytes), buffer);
}

}  // namespace softnpu
