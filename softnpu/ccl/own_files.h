#pragma once
// What this process gives to others that shall read its memory and see its end.

#include <cstdint>

#include "base/file.h"
#include "base/status.h"
#include "softnpu/memory_file.h"

namespace softnpu::ccl {

struct OwnFiles {
  File memory;   // readable only
  File process;  // a pidfd
};

Status memory_of(int32_t device, softnpuMemoryFile* out);
Status own_files(const softnpuMemoryFile& memory, OwnFiles* out);

}  // namespace softnpu::ccl
