// Padding with a constant, by reflection, by replication.

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "ops/core/describe.h"
#include "ops/tensor/shape/chunks.h"
#include "ops/tensor/shape/operators.h"
#include "ops/tensor/shape/padding.h"

namespace softnpu {
namespace {

// Adds a piece, clipped to the result's [0, size).
void add_chunk(Chunk chunk, int64_t size, std::vector<Chunk>* out) {
  const int64_t before = std::max<int64_t>(0, -chunk.to);
  chunk.to += before;
  chunk.from += before * chunk.step;
  chunk.count = std::min(chunk.count - before, size - chunk.to);
  if (chunk.count > 0) out->push_back(chunk);
}

// The source itself, in the middle.
Chunk middle(const Padding& padding) { return {padding.before, 0, padding.size, 1}; }

std::vector<Chunk> pieces_of(PadMode mode, const Padding& padding) {
  std::vector<Chunk> pieces;
  const int64_t n = padding.size;
  const int64_t size = padding.padded();
  const int64_t step = mode == PadMode::kReflect ? -1 : 0;
  add_chunk({0, mode == PadMode::kReflect ? padding.before : 0, padding.before, step}, size, &pieces);
  add_chunk(middle(padding), size, &pieces);
  add_chunk({padding.before + n, mode == PadMode::kReflect ? n - 2 : n - 1, padding.after, step}, size, &pieces);
  return pieces;
}

}  // namespace

Status read_paddings(const Dims& sizes, const aclIntArray& values, std::vector<Padding>* out) {
  if (values.size() % 2 != 0 || values.size() / 2 > sizes.size()) {
    return {ACLNN_ERR_PARAM_INVALID, text("a padding of ", values.size(), " numbers for a tensor of ", sizes.size(),
                                          " dimensions; a dimension takes two")};
  }
  out->clear();
  for (size_t k = values.size() / 2; k-- > 0;) {
    const size_t dim = sizes.size() - 1 - k;
    const Padding padding{dim, sizes[dim], values[2 * k], values[2 * k + 1]};
    int64_t grown = 0;
    if (__builtin_add_overflow(padding.before, padding.after, &grown) ||
        __builtin_add_overflow(grown, padding.size, &grown) || grown < 0) {
      return {ACLNN_ERR_PARAM_INVALID, text("dimension ", dim, " of size ", padding.size, " cannot be padded by ",
                                            padding.before, " and ", padding.after)};
    }
    out->push_back(padding);
  }
  return Status::ok();
}

Status check_paddings(PadMode mode, size_t dims, const aclTensor& self, const aclIntArray& values,
                      std::vector<Padding>* out) {
  if (values.size() != 2 * dims) {
    return {ACLNN_ERR_PARAM_INVALID, text("a padding of ", values.size(), " numbers; it has ", 2 * dims)};
  }
  if (self.dims.size() != dims + 1 && self.dims.size() != dims + 2) {
    return {ACLNN_ERR_PARAM_INVALID,
            text("self is ", describe(self), "; it has ", dims + 1, " or ", dims + 2, " dimensions")};
  }
  SOFTNPU_RETURN_IF_ERROR(read_paddings(self.dims, values, out));
  for (const Padding& padding : *out) {
    if (mode == PadMode::kReflect && (padding.before >= padding.size || padding.after >= padding.size)) {
      return {ACLNN_ERR_PARAM_INVALID,
              text("dimension ", padding.dim, " of size ", padding.size, " cannot be reflected by ", padding.before,
                   " and ", padding.after, "; the padding is smaller than the size")};
    }
    if (padding.size == 0) {
      return {ACLNN_ERR_PARAM_INVALID, text("dimension ", padding.dim, " has no element that could be repeated")};
    }
  }
  return Status::ok();
}

Status constant_pad(const aclTensor& self, const aclIntArray& padding, const aclScalar& value, const aclTensor& out,
                    Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", &from));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, out));
  std::vector<Padding> paddings;
  SOFTNPU_RETURN_IF_ERROR(read_paddings(self.dims, padding, &paddings));
  Dims sizes = self.dims;
  std::vector<PiecesOf> dims;
  for (const Padding& of : paddings) {
    const int64_t size = of.padded();
    sizes[of.dim] = size;
    std::vector<Chunk> pieces;
    add_chunk({0, 0, of.before, 0, true}, size, &pieces);
    add_chunk(middle(of), size, &pieces);
    add_chunk({of.before + of.size, 0, of.after, 0, true}, size, &pieces);
    dims.push_back({of.dim, std::move(pieces)});
  }
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, sizes, "out"));
  CopyList list;
  SOFTNPU_RETURN_IF_ERROR(add_pieces(to, from, dims, &value, &list));
  return list.finish(describe_later({&self, &out}), plan);
}

Status pad(PadMode mode, size_t dims, const aclTensor& self, const aclIntArray& padding, const aclTensor& out,
           Plan* plan) {
  View from;
  View to;
  SOFTNPU_RETURN_IF_ERROR(view_of(self, "self", &from));
  SOFTNPU_RETURN_IF_ERROR(view_of(out, "out", &to));
  SOFTNPU_RETURN_IF_ERROR(same_dtype(self, out));
  std::vector<Padding> paddings;
  SOFTNPU_RETURN_IF_ERROR(check_paddings(mode, dims, self, padding, &paddings));
  Dims sizes = self.dims;
  std::vector<PiecesOf> pieces;
  for (const Padding& of : paddings) {
    sizes[of.dim] = of.padded();
    pieces.push_back({of.dim, pieces_of(mode, of)});
  }
  SOFTNPU_RETURN_IF_ERROR(require_sizes(out, sizes, "out"));
  if (std::optional<Plan> result = plan_pad_of_planes(mode, paddings, from, to, false)) {
    *plan = *std::move(result);
    plan->describe = describe_later({&self, &out});
    return Status::ok();
  }
  CopyList list;
  SOFTNPU_RETURN_IF_ERROR(add_pieces(to, from, pieces, nullptr, &list));
  return list.finish(describe_later({&self, &out}), plan);
}

}  // namespace softnpu
