#include "graph/passes/halves.h"

namespace softnpu::graph {

std::optional<Slice> slice_of(const Editor& edit, ValueId id) {
  const Node* node = edit.producer(id, "Slice");
  if (node == nullptr) return std::nullopt;
  const std::vector<int64_t> offsets = edit.integers(node->inputs[1]);
  const std::vector<int64_t> lengths = edit.integers(node->inputs[2]);
  const Dims& sizes = edit.dims(node->inputs[0].value);
  if (offsets.size() != sizes.size() || lengths.size() != sizes.size()) return std::nullopt;
  Slice found{node->inputs[0].value, sizes.size(), 0, 0};
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (offsets[i] == 0 && lengths[i] == sizes[i]) continue;
    if (found.dim != sizes.size()) return std::nullopt;
    found.dim = i;
    found.first = offsets[i];
    found.last = offsets[i] + lengths[i];
  }
  return found.dim == sizes.size() ? std::nullopt : std::optional(found);
}

ValueId whole_of(const Editor& edit, ValueId first, ValueId second, size_t* dim) {
  const auto a = slice_of(edit, first);
  const auto b = slice_of(edit, second);
  if (!a.has_value() || !b.has_value() || a->x != b->x || a->dim != b->dim) return kNoValue;
  const int64_t size = edit.dims(a->x)[a->dim];
  if (a->first != 0 || a->last * 2 != size || b->first != a->last || b->last != size) return kNoValue;
  *dim = a->dim;
  return a->x;
}

}  // namespace softnpu::graph
