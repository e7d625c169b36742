// Functions of ATen for every device that end in a DispatchStub: npu serves the stub by the CPU's kernel, on the
// operands' own bytes or on copies, or by operators on the device.

#include <ATen/TensorIterator.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/tensor.h>

#include <array>
#include <optional>
#include <vector>

#include "aten/aicpu/copying.h"
#include "aten/aicpu/dense.h"
#include "aten/aicpu/error.h"
#include "aten/aicpu/host_call.h"

namespace torch_npu {
namespace {

using at::Tensor;

// While it lives, an iterator over npu tensors has addresses that a CPU kernel can read and write.
class HostOperands {
 public:
  explicit HostOperands(at::TensorIteratorBase& iter) : iter_(iter) {
    for (int i = 0; i < iter.ntensors(); ++i) {
      addresses_.push_back(iter.data_ptr(i));
      const Tensor& operand = iter.tensor(i);
      host_.push_back(operand.is_privateuseone() ? to_host(operand) : operand);
      iter.unsafe_replace_operand(i, host_.back().mutable_data_ptr());
    }
  }
  HostOperands(const HostOperands&) = delete;
  HostOperands& operator=(const HostOperands&) = delete;
  ~HostOperands() {
    for (int i = 0; i < iter_.ntensors(); ++i) {
      iter_.unsafe_replace_operand(i, addresses_[static_cast<std::size_t>(i)]);
    }
  }

  // Stores what the kernel wrote.
  void write_back() const {
    if (!copies_) return;
    for (int i = 0; i < iter_.noutputs(); ++i) iter_.tensor(i).copy_(host_[static_cast<std::size_t>(i)]);
  }

 private:
  Tensor to_host(const Tensor& npu) const {
    if (!copies_) return aicpu::dense_cpu_view(npu, npu.device().index());
    return at::empty_strided(npu.sizes(), npu.strides(), npu.options().device(at::kCPU)).copy_(npu);
  }

  at::TensorIteratorBase& iter_;
  const bool copies_ = aicpu::copies_arguments();
  std::vector<void*> addresses_;
  std::vector<Tensor> host_;
};

void kaiser_window(at::TensorIteratorBase& iter, const int64_t window_length, const double beta) {
  constexpr const char* kName = "kaiser_window";
  std::optional<aicpu::HostCall> call;  // copies wait by themselves, and are in host memory
  if (!aicpu::copies_arguments()) call.emplace(iter.device().index(), kName);
  const HostOperands operands(iter);
  try {
    // The variant for every CPU: a stub's own choice depends on macros with which libtorch was built.
    at::native::kaiser_window_stub.DEFAULT(iter, window_length, beta);
  } catch (const std::exception&) {
    aicpu::rethrow_as_npu(kName);
  }
  operands.write_back();
}

// The position in a contiguous tensor of ``size`` of each column of ``indices`` (dimensions x entries): the check that
// a sparse tensor is coalesced compares neighbours.
Tensor flatten_indices(const Tensor& indices, const at::IntArrayRef size) {
  std::vector<int64_t> strides(size.size(), 1);
  for (std::size_t dim = size.size(); dim-- > 1;) strides[dim - 1] = strides[dim] * size[dim];
  static constexpr std::array<int64_t, 1> kOfDims = {0};
  return indices.mul(at::tensor(strides, indices.options()).unsqueeze(1)).sum(at::IntArrayRef(kOfDims));
}

}  // namespace
}  // namespace torch_npu

// libtorch_cpu exports the stub; no header of the wheel declares it.
namespace at::native {
using flatten_indices_fn = Tensor (*)(const Tensor&, IntArrayRef);
DECLARE_DISPATCH(flatten_indices_fn, flatten_indices_stub)
REGISTER_PRIVATEUSE1_DISPATCH(flatten_indices_stub, &torch_npu::flatten_indices)
REGISTER_PRIVATEUSE1_DISPATCH(kaiser_window_stub, &torch_npu::kaiser_window)
}  // namespace at::native
