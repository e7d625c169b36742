// How softmax is divided. The last dimension are the columns, all others together the rows.
#include "register/tilingdata_base.h"

BEGIN_TILING_DATA_DEF(SoftmaxTiling)
  TILING_DATA_FIELD_DEF(uint64_t, rows);
  TILING_DATA_FIELD_DEF(uint64_t, columns);
  TILING_DATA_FIELD_DEF(uint32_t, tile_rows);  // rows that local memory takes at once; 1 where they have several tiles
  TILING_DATA_FIELD_DEF(uint32_t, tile_columns);  // columns that it takes at once
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Softmax, SoftmaxTiling)
