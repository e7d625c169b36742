#pragma once

#include <cstdint>

namespace softnpu {

// Where work runs on an idle stream: small work on the caller's thread; short work also, unless the executor ran a task
// recently; large work on the executor.
enum class Cost : uint8_t { kSmall, kShort, kLarge };

}  // namespace softnpu
