"""Operators that choose or write elements by their order or by indices."""

from torch_npu._npugraph_ex.builder import GraphBuilder, Ref
from torch_npu._npugraph_ex.lower.table import (
    Lower,
    Scalar,
    aten,
    dimension,
    known,
    operand,
    tensor,
)


def _extreme_with_index(kind: str) -> Lower:
    def lower(b: GraphBuilder, x: Ref, dim: int, keepdim: bool = False) -> tuple[Ref, Ref]:
        indices, values = b.emit_all(kind, x, dimension=dimension(dim, x), keep_dims=keepdim)
        return values, indices

    return lower


def _top_k(
    b: GraphBuilder,
    x: Ref,
    k: int,
    dim: int = -1,
    largest: bool = True,
    is_sorted: bool = True,
) -> tuple[Ref, ...]:
    return tuple(
        b.emit_all(
            "TopKV2", x, b.host([k]), dim=dimension(dim, x), largest=largest, sorted=is_sorted
        )
    )


def _sort(b: GraphBuilder, x: Ref, dim: int = -1, descending: bool = False) -> tuple[Ref, ...]:
    return tuple(b.emit_all("Sort", x, axis=dimension(dim, x), descending=descending))


def _stable_sort(
    b: GraphBuilder,
    x: Ref,
    *,
    stable: bool | None = None,
    dim: int = -1,
    descending: bool = False,
) -> tuple[Ref, ...]:
    return _sort(b, x, dim, descending)


def _argsort(b: GraphBuilder, x: Ref, dim: int = -1, descending: bool = False) -> Ref:
    return _sort(b, x, dim, descending)[1]


def _running(kind: str, attribute: str) -> Lower:
    def lower(b: GraphBuilder, x: Ref, dim: int) -> tuple[Ref, ...]:
        return tuple(b.emit_all(kind, x, **{attribute: dimension(dim, x)}))

    return lower


_REDUCTIONS = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min", "add": "add", "multiply": "mul"}  # fmt: skip


def _scatter(
    b: GraphBuilder,
    x: Ref,
    dim: int,
    index: Ref,
    source: Ref | Scalar,
    reduction: str = "none",
) -> Ref:
    if not isinstance(source, Ref):
        source = b.broadcast(tensor(b, source, x.dtype), index.shape)
    known(source.rank == index.rank == x.rank, "a scatter of a number's dimensions")
    for i, size in enumerate(index.shape):
        source = b.slice(source, i, 0, size)
    return b.emit("ScatterElements", x, index, source, axis=dimension(dim, x), reduction=reduction)


def _scatter_by(
    b: GraphBuilder, x: Ref, dim: int, index: Ref, source: Ref | Scalar, *, reduce: str
) -> Ref:
    return _scatter(b, x, dim, index, source, _REDUCTIONS[reduce])


def _scatter_add(b: GraphBuilder, x: Ref, dim: int, index: Ref, source: Ref) -> Ref:
    return _scatter(b, x, dim, index, source, "add")


def _scatter_reduce(
    b: GraphBuilder,
    x: Ref,
    dim: int,
    index: Ref,
    source: Ref,
    reduce: str,
    *,
    include_self: bool = True,
) -> Ref:
    known(include_self and reduce in _REDUCTIONS, "a scatter that is a mean, or without the tensor")
    return _scatter(b, x, dim, index, source, _REDUCTIONS[reduce])


def _index_add(
    b: GraphBuilder, x: Ref, dim: int, index: Ref, source: Ref, *, alpha: Scalar = 1
) -> Ref:
    return b.emit(
        "InplaceIndexAdd", x, index, source, operand(b, alpha, x.dtype), axis=dimension(dim, x)
    )


ORDERS: dict[object, Lower] = {
    aten.max.dim: _extreme_with_index("ArgMaxWithValue"),
    aten.min.dim: _extreme_with_index("ArgMinWithValue"),
    aten.topk.default: _top_k,
    aten.sort.default: _sort,
    aten.sort.stable: _stable_sort,
    aten.argsort.default: _argsort,
    aten.cummax.default: _running("Cummax", "dim"),
    aten.cummin.default: _running("Cummin", "axis"),
    aten.scatter.src: _scatter,
    aten.scatter.value: _scatter,
    aten.scatter.reduce: _scatter_by,
    aten.scatter.value_reduce: _scatter_by,
    aten.scatter_add.default: _scatter_add,
    aten.scatter_reduce.two: _scatter_reduce,
    aten.index_add.default: _index_add,
}
