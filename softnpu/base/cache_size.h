#pragma once

#include <cstdint>

namespace softnpu {

// Bytes of the host's last-level cache, which its cores share; 0 if the system does not report it.
int64_t last_level_cache_bytes();

}  // namespace softnpu
