#pragma once

#include <cstdint>

#include "base/descriptor_socket.h"
#include "base/file.h"

namespace softnpu {

// Memory of another process: a range of its file. While `lease`, the connection to the exporter, is open, the exporter
// does not reuse the memory: it is closed after the last mapping. The system closes it when the process ends.
struct ImportedRange {
  DescriptorSocket lease;
  File file;
  uint64_t offset = 0;
  uint64_t size = 0;
};

}  // namespace softnpu
