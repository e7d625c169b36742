#include "ops/tensor/shape/chunks.h"

#include <span>

#include "base/text.h"

namespace softnpu {
namespace {

constexpr size_t kMaxCopies = 1 << 16;

View source(const View& from, size_t dim, const Chunk& chunk) {
  if (chunk.step == 1) return from.narrow(dim, chunk.from, chunk.count);
  if (chunk.step == 0) return from.narrow(dim, chunk.from, 1).repeat(dim, chunk.count);
  return from.narrow(dim, chunk.from - chunk.count + 1, chunk.count).flip(dim);
}

void add(const View& to, const View& from, std::span<const PiecesOf> dims, const aclScalar* outside, CopyList* list) {
  if (dims.empty()) return list->add(to, from);
  const PiecesOf& first = dims.front();
  for (const Chunk& chunk : first.pieces) {
    if (chunk.count <= 0) continue;
    const View part = to.narrow(first.dim, chunk.to, chunk.count);
    if (chunk.is_outside) {
      list->fill(part, *outside);
    } else {
      add(part, source(from, first.dim, chunk), dims.subspan(1), outside, list);
    }
  }
}

}  // namespace

Status add_pieces(const View& to, const View& from, const std::vector<PiecesOf>& dims, const aclScalar* outside,
                  CopyList* list) {
  size_t copies = 1;
  for (const PiecesOf& of : dims) {
    copies *= std::max<size_t>(of.pieces.size(), 1);
    if (copies > kMaxCopies) {
      return {ACLNN_ERR_PARAM_INVALID, text("more than ", kMaxCopies, " pieces; call it for fewer dimensions at once")};
    }
  }
  if (to.count() > 0) add(to, from, dims, outside, list);
  return Status::ok();
}

}  // namespace softnpu
