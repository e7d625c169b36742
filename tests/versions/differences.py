"""Operators whose version counters, or calls, differ between npu and the CPU, each with the reason."""

import re

# Lists that PyTorch's CPU kernels write without raising counters, so that a backward pass silently reads the new values.
RAISED_ON_NPU_ALONE = re.compile(
    r"aten::(_fused_(adam|adamw|sgd|adagrad)_(\.tensor_lr)?|_amp_foreach_non_finite_check_and_unscale_)$"
)
# Operators that npu may refuse although the CPU takes them.
REFUSED = {
    "aten::_nnpack_spatial_convolution.out": "NNPACK is a library of the CPU's kernels",
}
# Compositions that resize an output within the call, by how much more each output's counter is raised: PyTorch resizes
# tensors of other devices than its own through the dispatcher, which raises them.
RESIZED = {"aten::linalg_matrix_rank.out_tol_tensor": 1}
