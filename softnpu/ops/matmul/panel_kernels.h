#pragma once
// Products in float32 of lines with panels: the second factor in columns side by side, as wide as registers hold sums.

#include <cstddef>

namespace softnpu {

// c = the lines of a times a panel: a[line * a_line + k], panel[k * columns of a panel + column].
struct PanelProduct {
  const float* a;
  ptrdiff_t a_line;
  size_t lines;
  const float* panel;
  size_t depth;
  size_t columns;  // at most a panel's
  float* c;
  ptrdiff_t c_line;
  bool adds;         // to what c has
  const float* row;  // added to each line, or null
};

struct PanelKernels {
  size_t columns;  // of a panel
  // Brings columns that are dense along the depth into a panel: from[column * stride + k].
  void (*turn)(const float* from, ptrdiff_t stride, size_t columns, size_t depth, float* panel);
  void (*multiply)(const PanelProduct& product);
};

PanelKernels panel_kernels();

}  // namespace softnpu
