// How attention is divided: tiles of queries of one head, each of which goes over the keys in tiles.
#include "register/tilingdata_base.h"

BEGIN_TILING_DATA_DEF(AttentionTiling)
  TILING_DATA_FIELD_DEF(uint32_t, batches);
  TILING_DATA_FIELD_DEF(uint32_t, heads);
  TILING_DATA_FIELD_DEF(uint32_t, key_heads);  // divides heads: neighbours share keys and values
  TILING_DATA_FIELD_DEF(uint32_t, queries);
  TILING_DATA_FIELD_DEF(uint32_t, keys);
  TILING_DATA_FIELD_DEF(uint32_t, size);  // of a head, 128 at most
  TILING_DATA_FIELD_DEF(uint32_t, causal);
  TILING_DATA_FIELD_DEF(float, scale);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Attention, AttentionTiling)
