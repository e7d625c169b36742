"""Builds a graph of the engine: values with PyTorch's data types and sizes, nodes by the names of operators."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from torch_npu._core import state
from torch_npu._dtypes import NUMBERS

_DTYPES = {
    number & 0xFF: getattr(torch, name) for name, number in NUMBERS.items() if hasattr(torch, name)
}
# Of constants that are computed on the host.
MAX_CONSTANT = 1 << 20


class Unsupported(Exception):  # noqa: N818  # no error of the program
    """The engine does not have a node; the text says why."""


@dataclass(frozen=True)
class Ref:
    """A value of the graph."""

    id: int
    dtype: torch.dtype
    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def meta(self) -> Tensor:
        """A tensor without elements' memory, of this type and sizes."""
        return torch.empty(self.shape, dtype=self.dtype, device="meta")


@dataclass(frozen=True)
class Number:
    """An operand in host memory: a number, or a list of integers (sizes, axes)."""

    id: int


Operand = Ref | Number | None


class GraphBuilder:
    """A graph while it is built.

    Args:
        device: the index of the npu.
        allows_hf32: whether float32 convolutions, and float32 products, may have the precision of HF32.
    """

    def __init__(self, device: int, allows_hf32: tuple[bool, bool]) -> None:
        """An empty graph."""
        self.graph = state.native()._BuiltGraph(device)
        self.conv_hf32, self.matmul_hf32 = allows_hf32
        self.node_name = ""
        self._constants: dict[int, Tensor] = {}

    def _ref(self, value: int) -> Ref:
        dtype, sizes = self.graph.describe(value)
        return Ref(value, _DTYPES[dtype], tuple(sizes))

    def input(self, like: Tensor) -> Ref:
        """A tensor that each run gives: contiguous, with the type and sizes of ``like``."""
        return self._ref(self.graph.input(like))

    def parameter(self, tensor: Tensor) -> Ref:
        """A contiguous npu tensor that is read where it is, and that lives at each run."""
        return self._ref(self.graph.parameter(tensor))

    def constant(self, tensor: Tensor) -> Ref:
        """A copy of a CPU tensor.

        Raises:
            Unsupported: it has more than ``MAX_CONSTANT`` elements.
        """
        if tensor.numel() > MAX_CONSTANT:
            raise Unsupported(f"a constant of {tensor.numel()} elements")
        return self._ref(self.graph.constant(tensor.contiguous()))

    def host(self, values: Sequence[int] | int) -> Number:
        """Integers in host memory."""
        return Number(self.graph.constant(torch.tensor(values, dtype=torch.int64)))

    def number(self, value: float | int | bool, like: torch.dtype) -> Number:
        """A number in host memory for an operator on values of ``like``."""
        is_real = like.is_floating_point
        return Number(
            self.graph.constant(
                torch.tensor(value, dtype=torch.float64 if is_real else torch.int64)
            )
        )

    def emit_all(self, kind: str, *operands: Operand, **attributes: object) -> list[Ref]:
        """The results of an operator.

        Raises:
            Unsupported: the operator does not take the operands.
        """
        given = [
            (-1, False) if one is None else (one.id, isinstance(one, Number)) for one in operands
        ]
        try:
            return [self._ref(i) for i in self.graph.node(kind, self.node_name, given, attributes)]
        except ValueError as error:
            raise Unsupported(str(error)) from None

    def emit(self, kind: str, *operands: Operand, **attributes: object) -> Ref:
        """The first result of an operator."""
        return self.emit_all(kind, *operands, **attributes)[0]

    def view(self, x: Ref, shape: Sequence[int]) -> Ref:
        """The same elements with other sizes, one of which may be -1."""
        sizes = [int(size) for size in shape]
        if tuple(sizes) == x.shape:
            return x
        try:
            return self._ref(self.graph.view(x.id, sizes))
        except ValueError as error:
            raise Unsupported(str(error)) from None

    def cast(self, x: Ref, dtype: torch.dtype) -> Ref:
        """``x`` in another type."""
        if x.dtype == dtype:
            return x
        name = str(dtype).removeprefix("torch.")
        if name not in NUMBERS:
            raise Unsupported(f"the data type {dtype}")
        return self.emit("Cast", x, dst_type=NUMBERS[name] & 0xFF)

    def transpose(self, x: Ref, order: Sequence[int]) -> Ref:
        """The dimensions in another order."""
        order = [dim % max(x.rank, 1) for dim in order]
        if order == sorted(order):
            return x
        return self.emit("Transpose", x, self.host(order))

    def broadcast(self, x: Ref, shape: Sequence[int]) -> Ref:
        """Expanded to ``shape``."""
        sizes = [int(size) for size in shape]
        return x if x.shape == tuple(sizes) else self.emit("BroadcastTo", x, self.host(sizes))

    def slice(self, x: Ref, dim: int, first: int, last: int) -> Ref:
        """The elements [first, last) of one dimension, which has them."""
        if first == 0 and last == x.shape[dim]:
            return x
        offsets, sizes = [0] * x.rank, list(x.shape)
        offsets[dim], sizes[dim] = first, max(last - first, 0)
        return self.emit("Slice", x, self.host(offsets), self.host(sizes))

    def concatenate(self, xs: Sequence[Ref], dim: int) -> Ref:
        """Values one behind the other; those without elements are left out."""
        xs = [x for x in xs if x.numel > 0] or list(xs[:1])
        return xs[0] if len(xs) == 1 else self.emit("ConcatD", *xs, concat_dim=dim)

    def along(self, x: Ref, dim: int, rank: int) -> Ref:
        """``x``, of one dimension, so that it broadcasts along ``dim`` of ``rank`` dimensions."""
        sizes = [1] * rank
        sizes[dim] = x.numel
        return self.view(x, sizes)
