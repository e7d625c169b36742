#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "dvpp/picture.h"

namespace softnpu {

// Encodes a picture of 4:2:0 or gray as JPEG of this quality, 1 to 100.
Status encode_jpeg(const Picture& picture, int quality, std::vector<uint8_t>* out);

}  // namespace softnpu
