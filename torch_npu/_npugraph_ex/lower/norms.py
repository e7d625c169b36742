"""Normalizations. What only a backward pass reads is None."""

from collections.abc import Sequence

import torch

from torch_npu._npugraph_ex.builder import GraphBuilder, Ref
from torch_npu._npugraph_ex.lower.table import Lower, aten, known


def _filled(b: GraphBuilder, value: float, shape: Sequence[int], dtype: torch.dtype) -> Ref:
    return b.constant(torch.full(tuple(shape), value, dtype=dtype))


def layer_norm(
    b: GraphBuilder,
    x: Ref,
    shape: Sequence[int],
    weight: Ref | None,
    bias: Ref | None,
    eps: float,
) -> tuple[Ref, None, None]:
    """As ``torch.nn.functional.layer_norm``, in a tuple."""
    weight = _filled(b, 1.0, shape, x.dtype) if weight is None else weight
    bias = _filled(b, 0.0, shape, x.dtype) if bias is None else bias
    known(weight.dtype == x.dtype == bias.dtype, "a norm with a weight of another type")
    return b.emit("LayerNormV3", x, weight, bias, epsilon=float(eps)), None, None


def _rms_norm(
    b: GraphBuilder, x: Ref, shape: Sequence[int], weight: Ref | None, eps: float | None
) -> tuple[Ref, None]:
    weight = _filled(b, 1.0, shape, x.dtype) if weight is None else weight
    known(weight.dtype == x.dtype, "a norm with a weight of another type")
    eps = torch.finfo(x.dtype).eps if eps is None else eps
    return b.emit("softnpuRmsNorm", x, weight, epsilon=float(eps)), None


def batch_norm(
    b: GraphBuilder,
    x: Ref,
    weight: Ref | None,
    bias: Ref | None,
    mean: Ref,
    variance: Ref,
    momentum: float,
    eps: float,
) -> tuple[Ref, None, None]:
    """Of an evaluation: by the running statistics."""
    weight = _filled(b, 1.0, mean.shape, mean.dtype) if weight is None else weight
    bias = _filled(b, 0.0, mean.shape, mean.dtype) if bias is None else bias
    known(weight.dtype == x.dtype == mean.dtype, "batch norm with weights of another type")
    return b.emit("BNInfer", x, weight, bias, mean, variance, epsilon=float(eps)), None, None


def folded_norm(
    b: GraphBuilder,
    filter_and_bias: tuple[Ref, Ref | None],
    weight: Ref | None,
    bias: Ref | None,
    mean: Ref,
    variance: Ref,
    eps: float,
) -> tuple[Ref, Ref]:
    """The filter and bias of a convolution with the batch norm behind it.

    They depend on parameters only: the engine computes them before the first run, and after a parameter was written.
    """
    own, shift = filter_and_bias
    factor = b.emit("Rsqrt", b.emit("Add", variance, b.number(eps, variance.dtype)))
    if weight is not None:
        factor = b.emit("Mul", weight, factor)
    moved = b.emit("Neg", mean) if shift is None else b.emit("Sub", shift, mean)
    moved = b.emit("Mul", moved, factor)
    if bias is not None:
        moved = b.emit("Add", moved, bias)
    return b.emit("Mul", own, b.along(factor, 0, own.rank)), moved


def group_norm(
    b: GraphBuilder,
    x: Ref,
    weight: Ref | None,
    bias: Ref | None,
    _n: int,
    channels: int,
    _size: int,
    groups: int,
    eps: float,
) -> tuple[Ref, None, None]:
    """As ``torch.nn.functional.group_norm``, in a tuple."""
    length = x.numel // (x.shape[0] * groups)
    rows = b.view(x, [x.shape[0] * groups, length])
    y = b.view(layer_norm(b, rows, [length], None, None, eps)[0], x.shape)
    if weight is not None:
        y = b.emit("Mul", y, b.along(weight, 1, x.rank))
    if bias is not None:
        y = b.emit("Add", y, b.along(bias, 1, x.rank))
    return y, None, None


NORMS: dict[object, Lower] = {
    aten.native_layer_norm.default: layer_norm,
    aten._fused_rms_norm.default: _rms_norm,
    aten._native_batch_norm_legit_no_training.default: batch_norm,
    aten.native_group_norm.default: group_norm,
}
