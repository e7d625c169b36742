#pragma once
// Float32 products of rows with panels: the second factor in groups of columns, as wide as registers hold sums.

#include <cstddef>

namespace softnpu {

// c = the rows of a times a panel: a[row * a_row_stride + k], panel[k * panel's columns + column].
struct PanelProduct {
  const float* a;
  ptrdiff_t a_row_stride;
  size_t rows;
  const float* panel;
  size_t k;
  size_t columns;  // at most the panel's
  float* c;
  ptrdiff_t c_row_stride;
  bool adds;          // accumulates onto c
  const float* bias;  // added to each row, or null
};

struct PanelKernels {
  size_t columns;  // of a full panel
  // Packs columns that are contiguous along k into a panel: from[column * stride + k].
  void (*transpose_tile)(const float* from, ptrdiff_t stride, size_t columns, size_t k, float* panel);
  void (*multiply)(const PanelProduct& product);
};

PanelKernels panel_kernels();

}  // namespace softnpu
