#pragma once
// The tensors of a call, for what watches launches: overflow (softnpu/overflow.h) and dumps (softnpu/dump.h). Phase one
// collects them, per thread, if anything watches; the launch takes them.

#include <memory>
#include <vector>

#include "nnopbase/arrays.h"
#include "nnopbase/tensor.h"
#include "softnpu/overflow.h"

namespace softnpu {

struct CallTensor {
  const void* data = nullptr;  // its first element, in device memory
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  Dims dims;
  Dims strides;  // in elements

  // The elements from the first to the last in memory.
  int64_t span() const;
};

struct CallTensors {
  std::vector<CallTensor> inputs;
  std::vector<CallTensor> outputs;
  bool is_move = false;  // it moves elements, or stores numbers that the program wrote, without converting them
};

// A call of this thread writes or reads the tensor, which may be null.
ACL_FUNC_VISIBILITY void collect_output(const aclTensor* tensor);
ACL_FUNC_VISIBILITY void collect_input(const aclTensor* tensor);

// What was collected for the call of `op`; null if nothing was.
ACL_FUNC_VISIBILITY std::shared_ptr<const CallTensors> take_call_tensors(const char* op);

// Collects an argument that the call only reads.
template <typename T>
void collect_if_read(const T& argument) {
  if constexpr (std::is_same_v<T, const aclTensor*>) {
    collect_input(argument);
  } else if constexpr (std::is_same_v<T, const aclTensorList*>) {
    if (argument == nullptr) return;
    for (const aclTensor* tensor : *argument) collect_input(tensor);
  }
}

}  // namespace softnpu
