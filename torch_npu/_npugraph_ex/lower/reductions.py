"""Reductions, scans and softmax."""

import math
from collections.abc import Sequence
from typing import Any

import torch

from torch_npu._npugraph_ex.builder import GraphBuilder, Ref
from torch_npu._npugraph_ex.lower.table import Lower, aten, dimension, known


def _axes(x: Ref, dims: int | Sequence[int] | None) -> list[int]:
    given = [dims] if isinstance(dims, int) else list(dims or range(x.rank))
    return [dimension(dim, x) for dim in given] if x.rank else []


def reduced(
    kind: str,
    b: GraphBuilder,
    x: Ref,
    dims: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: torch.dtype | None = None,
) -> Ref:
    """A reduction over ``dims``, all without any."""
    x = x if dtype is None else b.cast(x, dtype)
    return b.emit(kind, x, b.host(_axes(x, dims)), keep_dims=keepdim)


def _summed(x: Ref, dtype: torch.dtype | None) -> torch.dtype:
    """The type of sums and products: the given one, that of floating-point numbers, or int64."""
    return dtype or (x.dtype if x.dtype.is_floating_point else torch.int64)


def _mean(
    b: GraphBuilder,
    x: Ref,
    dims: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Ref:
    return reduced("ReduceMean", b, x, dims, keepdim, dtype)


def _sum(
    b: GraphBuilder,
    x: Ref,
    dims: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Ref:
    return reduced("ReduceSum", b, x, dims, keepdim, _summed(x, dtype))


def _extreme(kind: str) -> Lower:
    return lambda b, x, dims=(), keepdim=False: reduced(kind, b, x, dims, keepdim)


def _index_of(kind: str) -> Lower:
    def lower(b: GraphBuilder, x: Ref, dim: int | None = None, keepdim: bool = False) -> Ref:
        if dim is None:
            known(not keepdim, "the index in all elements with kept dimensions")
            x, dim = b.view(x, [-1]), 0
        axis = b.host(dimension(dim, x))
        return b.emit(kind, x, axis, keep_dims=keepdim, dtype=9)  # int64

    return lower


def _variance_and_mean(
    b: GraphBuilder,
    x: Ref,
    dims: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> tuple[Ref, Ref]:
    axes = _axes(x, dims)
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    free = count - (1 if correction is None else correction)
    known(free > 0, "a variance of too few elements")
    mean = reduced("ReduceMean", b, x, axes, True)
    sums = reduced("ReduceSum", b, b.emit("Square", b.emit("Sub", x, mean)), axes, keepdim)
    return b.emit("Mul", sums, b.number(1 / free, x.dtype)), b.view(mean, sums.shape)


def _variance(b: GraphBuilder, x: Ref, *dims: Any, **options: Any) -> Ref:  # noqa: ANN401
    return _variance_and_mean(b, x, *dims, **options)[0]


def _norm(
    b: GraphBuilder,
    x: Ref,
    order: float = 2,
    dims: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Ref:
    known(x.dtype == torch.float32 and dtype in (None, x.dtype), "a norm of half precision")
    if order == 2:
        return b.emit("Sqrt", reduced("ReduceSum", b, b.emit("Square", x), dims, keepdim))
    sizes = b.emit("Abs", x)
    if order in (math.inf, -math.inf):
        return reduced("ReduceMax" if order > 0 else "ReduceMin", b, sizes, dims, keepdim)
    known(order == 1, f"a norm of order {order}")
    return reduced("ReduceSum", b, sizes, dims, keepdim)


def _softmax(kind: str) -> Lower:
    def lower(b: GraphBuilder, x: Ref, dim: int, half_to_float: bool = False) -> Ref:
        known(not half_to_float and x.rank > 0, "softmax from half precision to float32")
        return b.emit(kind, x, axes=[dim % x.rank])

    return lower


def _scan(kind: str) -> Lower:
    def lower(b: GraphBuilder, x: Ref, dim: int, *, dtype: torch.dtype | None = None) -> Ref:
        return b.emit(kind, b.cast(x, _summed(x, dtype)), b.host(dimension(dim, x)))

    return lower


def _product(
    b: GraphBuilder,
    x: Ref,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Ref:
    return reduced("ReduceProd", b, x, dim, keepdim, _summed(x, dtype))


def _truth(kind: str) -> Lower:
    def lower(
        b: GraphBuilder, x: Ref, dims: int | Sequence[int] | None = None, keepdim: bool = False
    ) -> Ref:
        return reduced(kind, b, b.cast(x, torch.bool), dims, keepdim)

    return lower


REDUCTIONS: dict[object, Lower] = {
    aten.mean.dim: _mean,
    aten.mean.default: _mean,
    aten.sum.dim_IntList: _sum,
    aten.sum.default: _sum,
    aten.amax.default: _extreme("ReduceMax"),
    aten.amin.default: _extreme("ReduceMin"),
    aten.argmax.default: _index_of("ArgMaxV2"),
    aten.argmin.default: _index_of("ArgMin"),
    aten.any.default: _truth("ReduceAny"),
    aten.any.dim: _truth("ReduceAny"),
    aten.any.dims: _truth("ReduceAny"),
    aten.all.default: _truth("ReduceAll"),
    aten.all.dim: _truth("ReduceAll"),
    aten.var.correction: _variance,
    aten.var_mean.correction: _variance_and_mean,
    aten.linalg_vector_norm.default: _norm,
    aten.max.default: _extreme("ReduceMax"),
    aten.min.default: _extreme("ReduceMin"),
    aten.prod.default: _product,
    aten.prod.dim_int: _product,
    aten.cumsum.default: _scan("Cumsum"),
    aten.cumprod.default: _scan("Cumprod"),
    aten._softmax.default: _softmax("SoftmaxV2"),
    aten._log_softmax.default: _softmax("LogSoftmaxV2"),
}
