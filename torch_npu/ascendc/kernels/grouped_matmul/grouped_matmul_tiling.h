// How grouped_matmul is divided: y is rows by columns, its groups are rows that follow each other.
#include "register/tilingdata_base.h"

BEGIN_TILING_DATA_DEF(GroupedMatmulTiling)
  TILING_DATA_FIELD_DEF(uint32_t, rows);
  TILING_DATA_FIELD_DEF(uint32_t, columns);
  TILING_DATA_FIELD_DEF(uint32_t, depth);
  TILING_DATA_FIELD_DEF(uint32_t, groups);
  TILING_DATA_FIELD_DEF(uint32_t, tile_rows);  // of a group that a vector core takes at once
  TILING_DATA_FIELD_DEF(uint32_t, tile_columns);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(GroupedMatmul, GroupedMatmulTiling)
