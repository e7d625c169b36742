// HCCL has no collectives of sparse tensors. Without these kernels they would run on copies, whose results nobody sees.

#include <torch/library.h>

#include <array>

namespace torch_npu {
namespace {

constexpr std::array kOperators = {
    "_allgather_base_",
    "_reduce_scatter_base_",
    "allgather_",
    "allgather_coalesced_",
    "allreduce_",
    "allreduce_coalesced_",
    "alltoall_",
    "alltoall_base_",
    "broadcast_",
    "gather_",
    "recv_",
    "recv_any_source_",
    "reduce_",
    "reduce_scatter_",
    "scatter_",
    "send",
};

void refuse(const c10::OperatorHandle& op, torch::jit::Stack*) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, op.schema().name(),
                              ": HCCL has no collectives of sparse tensors: make gradients dense (nn.Embedding(..., "
                              "sparse=False)), or use tensor.to_dense()");
}

void refuse_all(torch::Library& library) {
  for (const char* name : kOperators) library.impl(name, torch::CppFunction::makeFromBoxedFunction<&refuse>());
}

TORCH_LIBRARY_IMPL(c10d, SparsePrivateUse1, library) { refuse_all(library); }
TORCH_LIBRARY_IMPL(c10d, SparseCsrPrivateUse1, library) { refuse_all(library); }

}  // namespace
}  // namespace torch_npu
