#include "ops/iterate/tiles.h"

#include <utility>

namespace softnpu {

Tiles::Tiles(Space space, std::span<const Use> uses) : space_(std::move(space)) {
  for (size_t k = 0; k < space_.operands(); ++k) {
    OperandAccess& way = accesses_[k];
    const aclDataType dtype = space_.operand(k).dtype;
    way.reader = ElementReader(dtype, uses[k].as);
    way.writer = ElementWriter(uses[k].as, dtype);
    way.compute_bytes = static_cast<int64_t>(compute_type_size(compute_type_of(uses[k].as)));
    way.access = uses[k].access;
    way.is_direct = !space_.operand(k).is_constant && way.reader.is_direct();
    way.in_place = way.is_direct && space_.is_contiguous(k);
  }
}

void* Tiles::bring(size_t k, int64_t at, int64_t count, char* buffer) const {
  const OperandAccess& way = accesses_[k];
  if (way.in_place) return space_.operand(k).data + at * way.compute_bytes;
  if (way.is_direct) {
    if (char* piece = space_.piece(k, at, count, way.compute_bytes)) return piece;
  }
  if (way.access == Access::kWrite) return buffer;
  char* to = buffer;
  space_.for_runs(k, at, count, [&](const char* from, ptrdiff_t stride, size_t here) {
    way.reader.read(from, stride, here, to);
    to += static_cast<int64_t>(here) * way.compute_bytes;
  });
  return buffer;
}

void Tiles::put_back(size_t k, int64_t at, int64_t count, const char* buffer) const {
  const OperandAccess& way = accesses_[k];
  if (way.access == Access::kRead) return;
  space_.for_runs(k, at, count, [&](char* to, ptrdiff_t stride, size_t here) {
    way.writer.write(buffer, here, to, stride);
    buffer += static_cast<int64_t>(here) * way.compute_bytes;
  });
}

}  // namespace softnpu
