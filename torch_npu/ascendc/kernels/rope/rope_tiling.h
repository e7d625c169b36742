// How rope is divided. x is [batches, positions, heads, 2 * pairs]; cos and sin are [positions, pairs].
#include "register/tilingdata_base.h"

BEGIN_TILING_DATA_DEF(RopeTiling)
  TILING_DATA_FIELD_DEF(uint32_t, batches);
  TILING_DATA_FIELD_DEF(uint32_t, positions);
  TILING_DATA_FIELD_DEF(uint32_t, heads);
  TILING_DATA_FIELD_DEF(uint32_t, pairs);
  // What local memory takes at once: one position, or several with all heads.
  TILING_DATA_FIELD_DEF(uint32_t, tile_positions);
  TILING_DATA_FIELD_DEF(uint32_t, tile_heads);
  TILING_DATA_FIELD_DEF(uint32_t, tile_pairs);
  TILING_DATA_FIELD_DEF(uint32_t, tile_elements);   // of x, with padding; even
  TILING_DATA_FIELD_DEF(uint32_t, table_elements);  // of cos, with padding
  // Heads for which a block uses the cos and sin that it has loaded: all, or those of one tile.
  TILING_DATA_FIELD_DEF(uint32_t, unit_heads);
  TILING_DATA_FIELD_DEF(float, direction);  // 1, or -1 for the inverse rotation
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Rope, RopeTiling)
