// How sepia and its gradient are divided: tiles of pixels, each of one image.
#include "register/tilingdata_base.h"

BEGIN_TILING_DATA_DEF(SepiaTiling)
  TILING_DATA_FIELD_DEF(uint64_t, images);
  TILING_DATA_FIELD_DEF(uint64_t, pixels);    // of each plane
  TILING_DATA_FIELD_DEF(uint32_t, tile);      // pixels that local memory takes at once
  TILING_DATA_FIELD_DEF(uint32_t, channels);  // of the image, or of its gradient: 1 or 3
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Sepia, SepiaTiling)
