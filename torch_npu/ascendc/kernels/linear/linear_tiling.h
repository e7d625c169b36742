// How linear is divided: y is rows by columns.
#include "register/tilingdata_base.h"

BEGIN_TILING_DATA_DEF(LinearTiling)
  TILING_DATA_FIELD_DEF(uint32_t, rows);
  TILING_DATA_FIELD_DEF(uint32_t, columns);
  TILING_DATA_FIELD_DEF(uint32_t, depth);         // columns of x and of the weight
  TILING_DATA_FIELD_DEF(uint32_t, tile_rows);     // rows of y that a vector core takes at once
  TILING_DATA_FIELD_DEF(uint32_t, tile_columns);  // a multiple of 16
  TILING_DATA_FIELD_DEF(uint32_t, activation);    // 0 none, 1 relu, 2 silu, 3 gelu by tanh
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Linear, LinearTiling)
