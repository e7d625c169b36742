#pragma once
// Planner for operators.txt: keys and values of latent attention, normalized, rotated and written to caches.

#include "nnopbase/executor.h"
#include "nnopbase/tensor.h"

namespace softnpu {

// Of kv, [B, 1, S, N + R], the first N channels of a token are normalized to the value, and the others rotated to the
// key; pairs are adjacent, and of the result elements i and i + R / 2. With `v`, [B, 1, S, M], which is the value, kv
// is [B, 1, S, N]: the first R channels of its norm are rotated, the others follow them in the key. Both are written to
// the tokens' slots of contiguous caches, in int8 with scales (and offsets), and to key and value. Modes: Norm, caches
// [B, 1, length, channels] and index [B, S]; PA and PA_BNSD, pages [pages, page, 1, channels] and a slot for each
// token; PA_NZ, where 32 bytes of channels are together; PA_BLK_BNSD and PA_BLK_NZ, the first slot of each page of a
// sequence. Negative slots have no position. A slot behind the last one is an error of the launch, and nothing is
// written.
struct LatentCache {
  const aclTensor& kv;
  const aclTensor& gamma;
  const aclTensor& cos;
  const aclTensor& sin;
  const aclTensor& index;
  const aclTensor& key_cache;
  const aclTensor& value_cache;
  const aclTensor* key_scale;
  const aclTensor* value_scale;
  const aclTensor* key_offset;
  const aclTensor* value_offset;
  const aclTensor* v;
  double eps;
  const char* mode;
  const aclTensor* key;
  const aclTensor* value;
};
Status write_latent_cache(const LatentCache& operands, Plan* plan);

}  // namespace softnpu
