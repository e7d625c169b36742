#pragma once
// Local memory that a test's kernel itself writes and reads, so that checked mode has nothing to report.

#include <cstdint>
#include <source_location>

#include "kernel_operator.h"
#include "softnpu_kernel/core.h"

// Waits for all pipes: what the scalar unit accesses from now on is ordered behind theirs, and theirs behind its own.
inline void wait_for_pipes() { AscendC::PipeBarrier<PIPE_ALL>(); }

// The test has written `count` elements through the tensor's address, as the scalar unit would.
template <typename T>
void has_written(const AscendC::LocalTensor<T>& tensor, uint32_t count,
                 const std::source_location& where = std::source_location::current()) {
  const uint64_t bytes = uint64_t{count} * sizeof(T);
  softnpu::kernel::scalar_access({reinterpret_cast<uint8_t*>(tensor.GetPhyAddr()), bytes}, bytes, true, where);
  wait_for_pipes();
}
