#pragma once

#include "ops/matmul/matmul.h"

namespace softnpu {

inline int64_t element_count(const Matrices& m) { return m.batch * m.rows * m.columns; }

// to = scale * from, element by element; both have the same sizes. With scale 0 `from` is not read.
void scaled_copy(const Matrices& to, const Matrices& from, float scale);

}  // namespace softnpu
