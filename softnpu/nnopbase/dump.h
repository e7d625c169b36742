#pragma once
// Copies of the tensors of a running call, for a dump.

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "nnopbase/call_tensors.h"
#include "softnpu/dump.h"

namespace softnpu {

class DumpedCall {
 public:
  // `parts`: what softnpuDumps() returned. Borrows `tensors`.
  DumpedCall(const CallTensors& tensors, int32_t parts) : tensors_(tensors), parts_(parts) {}

  // Before the work, which may overwrite its inputs.
  Status copy_inputs();
  // After it: writes the file.
  Status write(const char* op, int32_t stream_id);

 private:
  using Bytes = std::vector<char>;

  const CallTensors& tensors_;
  const int32_t parts_;
  std::vector<Bytes> inputs_;
};

}  // namespace softnpu
