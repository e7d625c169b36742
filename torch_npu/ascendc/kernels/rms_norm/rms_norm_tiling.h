// How RMSNorm is divided. The last dimension are the columns, all others together the rows.
#include "register/tilingdata_base.h"

BEGIN_TILING_DATA_DEF(RmsNormTiling)
  TILING_DATA_FIELD_DEF(uint32_t, rows);
  TILING_DATA_FIELD_DEF(uint32_t, columns);
  TILING_DATA_FIELD_DEF(uint32_t, tile);  // columns that local memory takes at once, a multiple of 16
  TILING_DATA_FIELD_DEF(float, epsilon);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(RmsNorm, RmsNormTiling)
