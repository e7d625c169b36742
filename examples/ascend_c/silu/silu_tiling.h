#include "register/tilingdata_base.h"

BEGIN_TILING_DATA_DEF(SiluTiling)
  TILING_DATA_FIELD_DEF(uint32_t, count);  // elements
  TILING_DATA_FIELD_DEF(uint32_t, part);   // of a block
  TILING_DATA_FIELD_DEF(uint32_t, tile);   // of local memory
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Silu, SiluTiling)
