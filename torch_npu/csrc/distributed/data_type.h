#pragma once
// PyTorch's data types and reductions as HCCL has them.

#include <ATen/core/Tensor.h>
#include <hccl/hccl_types.h>

#include <torch/csrc/distributed/c10d/Types.hpp>

namespace torch_npu {

// How HCCL is told of a tensor's elements: `per_element` numbers of `type`.
struct WireType {
  HcclDataType type;
  uint64_t per_element;
};

// The count of numbers that HCCL is told for `tensor`.
inline uint64_t count_of(const at::Tensor& tensor, WireType wire) {
  return static_cast<uint64_t>(tensor.numel()) * wire.per_element;
}

// For collectives that only move elements: complex numbers are pairs, other types without a number of HCCL's are bytes.
WireType moved_as(c10::ScalarType dtype);

// A reduction of tensors with one data type. HCCL has no average: it sums, and the sum is divided.
class Reduction {
 public:
  // Throws for reductions that HCCL does not have, or that `dtype` does not have. `operation` names the collective.
  Reduction(const c10d::ReduceOp& op, c10::ScalarType dtype, const char* operation);

  HcclReduceOp op() const { return op_; }
  WireType wire() const { return wire_; }

  // What to reduce in place of `input`, on the current stream: itself, or the product with the factor of PREMUL_SUM.
  at::Tensor scaled(const at::Tensor& input) const;
  // Makes the sum in `output` the average, if that is asked for.
  void finish(const at::Tensor& output, int ranks) const;

 private:
  c10d::ReduceOp asked_;
  HcclReduceOp op_;
  WireType wire_;
};

}  // namespace torch_npu
