// How add is divided: tiles of elements, whatever the shape.
#include "register/tilingdata_base.h"

BEGIN_TILING_DATA_DEF(AddTiling)
  TILING_DATA_FIELD_DEF(uint64_t, count);  // elements of each tensor
  TILING_DATA_FIELD_DEF(uint32_t, tile);   // elements that local memory takes at once, a multiple of 16
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Add, AddTiling)
