#pragma once

#include <cstdint>

namespace softnpu {

// Bytes of the host's last cache, which its cores share; 0 where the system does not tell.
int64_t last_level_cache_bytes();

}  // namespace softnpu
