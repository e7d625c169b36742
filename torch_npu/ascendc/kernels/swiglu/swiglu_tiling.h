// How swiglu and its gradient are divided: tensors are vectors, whatever their shape.
#include "register/tilingdata_base.h"

BEGIN_TILING_DATA_DEF(SwigluTiling)
  TILING_DATA_FIELD_DEF(uint64_t, count);  // elements of each tensor
  TILING_DATA_FIELD_DEF(uint32_t, tiles);
  TILING_DATA_FIELD_DEF(uint32_t, tile);  // elements of each tile but the last one, a multiple of 16
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Swiglu, SwigluTiling)
