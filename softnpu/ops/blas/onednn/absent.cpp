// The answers of cpu.h without oneDNN.

#include "ops/blas/onednn/cpu.h"

namespace softnpu {

// softnpu's own kernels count in 64 bits.
bool onednn_counts(std::initializer_list<int64_t> /*sizes*/) { return true; }

bool onednn_multiplies(aclDataType dtype) { return dtype == ACL_FLOAT; }

bool onednn_has_tiles() { return false; }

bool onednn_packs_weights() { return false; }

}  // namespace softnpu
