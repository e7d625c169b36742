#pragma once
// TBuf: local memory without a queue.

#include <cstdint>
#include <source_location>

#include "ascendc/pipe.h"
#include "ascendc/tensor.h"

namespace AscendC {

// Sources: its use in DrivingSDK and sgl-kernel-npu kernels.
template <TPosition position = TPosition::VECCALC>
class TBuf {
 public:
  static constexpr softnpu::kernel::LocalMemory kMemory = softnpu::kernel::memory_of(position);

  // All of it as a tensor.
  template <typename T>
  LocalTensor<T> Get(const std::source_location& where = std::source_location::current()) const {
    check(0, where);
    return LocalTensor<T>(memory_.address, memory_.bytes, position, this);
  }
  // Its first `length` elements.
  template <typename T>
  LocalTensor<T> Get(uint32_t length, const std::source_location& where = std::source_location::current()) const {
    return GetWithOffset<T>(length, 0, where);
  }
  // `length` elements from byte `offset` on.
  template <typename T>
  LocalTensor<T> GetWithOffset(uint32_t length, uint32_t offset,
                               const std::source_location& where = std::source_location::current()) const {
    const uint64_t bytes = uint64_t{length} * sizeof(T);
    check(offset + bytes, where);
    return LocalTensor<T>(static_cast<uint8_t*>(memory_.address) + offset, bytes, position, this);
  }

  // The same as Get; nothing has to be given back.
  template <typename T>
  LocalTensor<T> AllocTensor(const std::source_location& where = std::source_location::current()) const {
    return Get<T>(where);
  }
  template <typename T>
  void FreeTensor(const LocalTensor<T>&) const {}

  // For the pipe.
  void assign(const softnpu::kernel::Memory& memory) { memory_ = memory; }

 private:
  void check(uint64_t end, const std::source_location& where) const {
    if (memory_.address == nullptr) softnpu::kernel::fail("TBuf: it has no memory: InitBuffer is missing", where);
    if (end > memory_.bytes) softnpu::kernel::fail("TBuf: the tensor ends behind the buffer", where);
  }

  softnpu::kernel::Memory memory_{nullptr, 0};
};

}  // namespace AscendC
