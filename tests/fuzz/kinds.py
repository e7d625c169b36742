"""The kind of an operator of ATen: that of its OpInfo, or that of the table."""

from functools import cache

from opinfo.kinds import kind_of
from torch.testing._internal.common_methods_invocations import op_db

from torch_npu.accuracy import Kind


def _names(text: str) -> list[str]:
    return text.split()


# Operators without an OpInfo of this name, and whether each is a derivative.
_SELECTION = _names("""
    zero constant_pad_nd im2col reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d
    replication_pad3d upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_nearest_exact1d
    upsample_nearest_exact2d upsample_nearest_exact3d max_pool2d_with_indices clamp_max clamp_min
""")
_REDUCTION = _names("col2im adaptive_avg_pool2d adaptive_avg_pool3d")
_PRODUCT = _names("convolution")
_SUMS_OF_GRADIENTS = _names("""
    adaptive_avg_pool2d_backward adaptive_max_pool2d_backward adaptive_max_pool3d_backward avg_pool2d_backward
    avg_pool3d_backward embedding_dense_backward max_pool2d_with_indices_backward reflection_pad1d_backward
    reflection_pad2d_backward reflection_pad3d_backward replication_pad1d_backward replication_pad2d_backward
    replication_pad3d_backward upsample_nearest1d_backward upsample_nearest2d_backward upsample_nearest3d_backward
    upsample_nearest_exact1d_backward upsample_nearest_exact2d_backward upsample_nearest_exact3d_backward
""")
_TABLE = {
    **dict.fromkeys(_SELECTION, (Kind.SELECTION, False)),
    **dict.fromkeys(_REDUCTION, (Kind.REDUCTION, False)),
    **dict.fromkeys(_PRODUCT, (Kind.PRODUCT, False)),
    **dict.fromkeys(_SUMS_OF_GRADIENTS, (Kind.REDUCTION, True)),
    "convolution_backward": (Kind.PRODUCT, True),
    # 1 + erf(x) cancels, also in the reference.
    "gelu": (Kind.COMPOSED, False),
}


@cache
def _infos() -> dict:
    found: dict = {}
    for op in op_db:
        for name in (op.name, op.aten_name):
            if not op.variant_test_name or name not in found:
                found.setdefault(name, (op, False))
        if op.aten_backward_name:
            found.setdefault(op.aten_backward_name, (op, True))
    return found


@cache
def kind_of_operator(operator: str) -> tuple[Kind, bool]:
    """The kind of an operator of ATen, and whether it is a derivative."""
    name = operator.removeprefix("_foreach_").removeprefix("_").removesuffix("_")
    if name in _TABLE:
        return _TABLE[name]
    op, derivative = _infos().get(name, (None, "backward" in name))
    if op is None:
        return Kind.COMPOSED, derivative
    return kind_of(op, derivative=derivative), derivative
