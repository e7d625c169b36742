#pragma once
// Halves of a tensor, as exporters cut them.

#include <optional>

#include "graph/passes/editor.h"

namespace softnpu::graph {

// Elements [first, last) of dimension `dim` of `x`.
struct Slice {
  ValueId x = kNoValue;
  size_t dim = 0;
  int64_t first = 0;
  int64_t last = 0;
};

// The slice that makes `id`; nothing if it is none, or one of several dimensions.
std::optional<Slice> slice_of(const Editor& edit, ValueId id);

// The tensor whose first and second half along `*dim` two values are; kNoValue if they are none.
ValueId whole_of(const Editor& edit, ValueId first, ValueId second, size_t* dim);

}  // namespace softnpu::graph
