"""Operators that move elements, and scatters into parts of a tensor."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from torch_npu._npugraph_ex.builder import GraphBuilder, Ref
from torch_npu._npugraph_ex.lower.table import Lower, Scalar, aten, dimension, known, operand


def _bounds(x: Ref, dim: int, start: int | None, end: int | None) -> tuple[int, int]:
    size = x.shape[dim]
    first, last, _ = slice(start, end).indices(size)
    return first, max(first, last)


def _transpose(b: GraphBuilder, x: Ref, first: int, second: int) -> Ref:
    order = list(range(x.rank))
    if x.rank > 0:
        order[first], order[second] = order[second], order[first]
    return b.transpose(x, order)


def _t(b: GraphBuilder, x: Ref) -> Ref:
    return x if x.rank < 2 else _transpose(b, x, 0, 1)


def _expand(b: GraphBuilder, x: Ref, shape: Sequence[int], implicit: bool = False) -> Ref:
    shift = len(shape) - x.rank
    sizes = [x.shape[i - shift] if size == -1 else size for i, size in enumerate(shape)]
    return b.broadcast(x, sizes)


def _unsqueeze(b: GraphBuilder, x: Ref, dim: int) -> Ref:
    sizes = list(x.shape)
    sizes.insert(dim % (x.rank + 1), 1)
    return b.view(x, sizes)


def _squeeze(b: GraphBuilder, x: Ref, dims: int | Sequence[int] | None = None) -> Ref:
    given = range(x.rank) if dims is None else [dims] if isinstance(dims, int) else dims
    chosen = {dimension(dim, x) for dim in given}
    return b.view(x, [n for i, n in enumerate(x.shape) if n != 1 or i not in chosen])


def _slice(
    b: GraphBuilder,
    x: Ref,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Ref:
    dim = dimension(dim, x)
    first, last = _bounds(x, dim, start, end)
    if step == 1:
        return b.slice(x, dim, first, last)
    taken = torch.arange(first, last, step)
    return b.emit("GatherV2", x, b.constant(taken), b.host([dim]))


def _select(b: GraphBuilder, x: Ref, dim: int, index: int) -> Ref:
    dim = dimension(dim, x)
    index = index % x.shape[dim]
    sizes = list(x.shape)
    del sizes[dim]
    return b.view(b.slice(x, dim, index, index + 1), sizes)


def _cat(b: GraphBuilder, xs: Sequence[Ref], dim: int = 0) -> Ref:
    xs = [x for x in xs if x.shape != (0,)] or list(xs[:1])
    dtype = xs[0].dtype
    for x in xs:
        dtype = torch.promote_types(dtype, x.dtype)
    return b.concatenate([b.cast(x, dtype) for x in xs], dimension(dim, xs[0]))


def _stack(b: GraphBuilder, xs: Sequence[Ref], dim: int = 0) -> Ref:
    return _cat(b, [_unsqueeze(b, x, dim) for x in xs], dim % (xs[0].rank + 1))


def _split_sizes(b: GraphBuilder, x: Ref, sizes: Sequence[int], dim: int = 0) -> tuple[Ref, ...]:
    dim, parts, first = dimension(dim, x), [], 0
    for size in sizes:
        parts.append(b.slice(x, dim, first, first + size))
        first += size
    return tuple(parts)


def _split(b: GraphBuilder, x: Ref, size: int, dim: int = 0) -> tuple[Ref, ...]:
    whole = x.shape[dimension(dim, x)]
    sizes = [min(size, whole - first) for first in range(0, whole, size)] or [0]
    return _split_sizes(b, x, sizes, dim)


def _unbind(b: GraphBuilder, x: Ref, dim: int = 0) -> tuple[Ref, ...]:
    return tuple(_select(b, x, dim, i) for i in range(x.shape[dimension(dim, x)]))


def _repeat(b: GraphBuilder, x: Ref, repeats: Sequence[int]) -> Ref:
    x = b.view(x, [1] * (len(repeats) - x.rank) + list(x.shape))
    return b.emit("Tile", x, b.host(list(repeats)))


def _pad(b: GraphBuilder, x: Ref, pad: Sequence[int], value: Scalar = 0) -> Ref:
    pairs = [(0, 0)] * x.rank
    for i in range(len(pad) // 2):
        pairs[x.rank - 1 - i] = (int(pad[2 * i]), int(pad[2 * i + 1]))
    for dim, (before, after) in enumerate(pairs):
        if before < 0 or after < 0:
            x = b.slice(x, dim, max(-before, 0), x.shape[dim] - max(-after, 0))
    added = [max(size, 0) for one in pairs for size in one]
    return b.emit("PadV3", x, b.host(added), operand(b, value, x.dtype)) if any(added) else x


def _slice_scatter(
    b: GraphBuilder,
    x: Ref,
    source: Ref,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Ref:
    known(step == 1, "a scatter by steps")
    dim = dimension(dim, x)
    first, last = _bounds(x, dim, start, end)
    parts = (b.slice(x, dim, 0, first), source, b.slice(x, dim, last, x.shape[dim]))
    return b.concatenate(parts, dim)


def _select_scatter(b: GraphBuilder, x: Ref, source: Ref, dim: int, index: int) -> Ref:
    dim = dimension(dim, x)
    index = index % x.shape[dim]
    return _slice_scatter(b, x, _unsqueeze(b, source, dim), dim, index, index + 1)


def wrapped(b: GraphBuilder, index: Ref, size: int) -> Ref:
    """Indices in [-size, size) as such in [0, size)."""
    negative = b.emit("Less", index, b.number(0, index.dtype))
    return b.emit("Select", negative, b.emit("Add", index, b.number(size, index.dtype)), index)


def _index(b: GraphBuilder, x: Ref, indices: Sequence[Ref | None]) -> Ref:
    given = [(dim, index) for dim, index in enumerate(indices) if index is not None]
    known(all(i.dtype in (torch.int32, torch.int64) for _, i in given), "an index by truths")
    first = given[0][0]
    known([dim for dim, _ in given] == list(range(first, first + len(given))), "indices apart")
    # One index into the merged dimensions.
    sizes = x.shape[first : first + len(given)]
    whole = None
    for size, (_, index) in zip(sizes, given, strict=True):
        one = wrapped(b, b.cast(index, torch.int64), size)
        whole = (
            one
            if whole is None
            else b.emit("Add", b.emit("Mul", whole, b.number(size, one.dtype)), one)
        )
    merged = b.view(x, [*x.shape[:first], -1, *x.shape[first + len(given) :]]) if x.numel else x
    return b.emit("GatherV2", merged, whole, b.host([first]))


def _index_select(b: GraphBuilder, x: Ref, dim: int, index: Ref) -> Ref:
    return b.emit("GatherV2", x, index, b.host([dimension(dim, x)]))


def _embedding(
    b: GraphBuilder, weight: Ref, index: Ref, _padding: int = -1, *_: object, **__: object
) -> Ref:
    return b.emit("GatherV2", weight, index, b.host([0]))


def _gather(b: GraphBuilder, x: Ref, dim: int, index: Ref, *, sparse_grad: bool = False) -> Ref:
    return b.emit("GatherElements", x, index, dim=dimension(dim, x))


def _flip(b: GraphBuilder, x: Ref, dims: Sequence[int]) -> Ref:
    return b.emit("ReverseV2", x, b.host([dimension(dim, x) for dim in dims]))


def _filled(op: Callable[..., Tensor]) -> Lower:
    """Of ``op(sizes, .., dtype=..)``: one number, broadcast."""

    def lower(b: GraphBuilder, size: Sequence[int], *args: object, **options: object) -> Ref:
        number = op([], *args, dtype=options.get("dtype"), device="cpu")
        return b.broadcast(b.constant(number), size)

    return lower


def _arange(op: Callable[..., Tensor]) -> Lower:
    def lower(b: GraphBuilder, *args: Scalar, **options: object) -> Ref:
        return b.constant(op(*args, dtype=options.get("dtype"), device="cpu"))

    return lower


def _like(op: Callable[..., Tensor]) -> Lower:
    def lower(b: GraphBuilder, x: Ref, *args: object, **options: object) -> Ref:
        scalar = torch.empty((), dtype=x.dtype)
        return b.broadcast(b.constant(op(scalar, *args, dtype=options.get("dtype"))), x.shape)

    return lower


def _new(op: Callable[..., Tensor]) -> Lower:
    def lower(
        b: GraphBuilder, x: Ref, size: Sequence[int], *args: object, **options: object
    ) -> Ref:
        scalar = torch.empty((), dtype=x.dtype)
        return b.broadcast(b.constant(op(scalar, [], *args, dtype=options.get("dtype"))), size)

    return lower


def _diagonal(b: GraphBuilder, x: Ref, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Ref:
    first, second = dimension(dim1, x), dimension(dim2, x)
    others = [dim for dim in range(x.rank) if dim not in (first, second)]
    rows, columns = x.shape[first], x.shape[second]
    at = torch.arange(max(0, min(rows + min(offset, 0), columns - max(offset, 0))))
    at = (at - min(offset, 0)) * columns + at + max(offset, 0)
    x = b.transpose(x, [*others, first, second])
    flat = b.view(x, [*x.shape[:-2], rows * columns])
    return b.emit("GatherV2", flat, b.constant(at), b.host([flat.rank - 1]))


_ZEROS = _filled(aten.zeros.default)


def _empty_permuted(b: GraphBuilder, size: Sequence[int], _order: object, **options: object) -> Ref:
    return _ZEROS(b, size, **options)


def _scalar_tensor(
    b: GraphBuilder, value: Scalar, *, dtype: torch.dtype | None = None, **_: object
) -> Ref:
    return b.constant(torch.scalar_tensor(value, dtype=dtype))


def _triangle(kind: str) -> Lower:
    return lambda b, x, diagonal=0: b.emit(kind, x, diagonal=diagonal)


SHAPES: dict[object, Lower] = {
    aten.view.default: lambda b, x, shape: b.view(x, shape),
    aten._unsafe_view.default: lambda b, x, shape: b.view(x, shape),
    aten.reshape.default: lambda b, x, shape: b.view(x, shape),
    aten.permute.default: lambda b, x, order: b.transpose(x, order),
    aten.transpose.int: _transpose,
    aten.t.default: _t,
    aten.expand.default: _expand,
    aten.unsqueeze.default: _unsqueeze,
    aten.squeeze.default: _squeeze,
    aten.squeeze.dim: _squeeze,
    aten.squeeze.dims: _squeeze,
    aten.slice.Tensor: _slice,
    aten.select.int: _select,
    aten.cat.default: _cat,
    aten.stack.default: _stack,
    aten.split.Tensor: _split,
    aten.split_with_sizes.default: _split_sizes,
    aten.unbind.int: _unbind,
    aten.repeat.default: _repeat,
    aten.constant_pad_nd.default: _pad,
    aten.slice_scatter.default: _slice_scatter,
    aten.select_scatter.default: _select_scatter,
    aten.index.Tensor: _index,
    aten._unsafe_index.Tensor: _index,
    aten.index_select.default: _index_select,
    aten.embedding.default: _embedding,
    aten.gather.default: _gather,
    aten.flip.default: _flip,
    aten.tril.default: _triangle("Tril"),
    aten.triu.default: _triangle("Triu"),
    aten.full.default: _filled(aten.full.default),
    aten.zeros.default: _ZEROS,
    aten.ones.default: _filled(aten.ones.default),
    aten.arange.default: _arange(aten.arange.default),
    aten.arange.start: _arange(aten.arange.start),
    aten.arange.start_step: _arange(aten.arange.start_step),
    aten.full_like.default: _like(aten.full_like.default),
    aten.zeros_like.default: _like(aten.zeros_like.default),
    aten.ones_like.default: _like(aten.ones_like.default),
    aten.new_full.default: _new(aten.new_full.default),
    aten.new_zeros.default: _new(aten.new_zeros.default),
    aten.new_ones.default: _new(aten.new_ones.default),
    aten.diagonal.default: _diagonal,
    aten.empty.memory_format: _ZEROS,
    aten.empty_permuted.default: _empty_permuted,
    aten.scalar_tensor.default: _scalar_tensor,
}
