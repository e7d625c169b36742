"""What the tables have in common."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from torch_npu._npugraph_ex.builder import GraphBuilder, Number, Ref, Unsupported

aten = torch.ops.aten
# Takes a builder and the node's arguments; returns the node's result, tuples for several.
Lower = Callable[..., Any]
Scalar = float | int | bool


def known(condition: bool, otherwise: str) -> None:
    """Refuses the node where ``condition`` is false."""
    if not condition:
        raise Unsupported(otherwise)


def operand(b: GraphBuilder, value: Ref | Scalar, dtype: torch.dtype) -> Ref | Number:
    """A value cast to ``dtype``, or a number for operators of that type."""
    if isinstance(value, Ref):
        return b.cast(value, dtype)
    known(not isinstance(value, complex), "a complex number")
    return b.number(value, dtype)


def tensor(b: GraphBuilder, value: Ref | Scalar, dtype: torch.dtype) -> Ref:
    """A value cast to ``dtype``, or a number as a tensor without dimensions."""
    if isinstance(value, Ref):
        return b.cast(value, dtype)
    return b.constant(torch.tensor(value, dtype=dtype))


def dimension(dim: int, x: Ref) -> int:
    """A dimension of ``x`` counted from its first one; 0 where it has none."""
    return dim % max(x.rank, 1)


def common_dtype(*values: Ref | Scalar) -> torch.dtype:
    """The type to which PyTorch promotes the operands."""
    given = [value.meta() if isinstance(value, Ref) else value for value in values]
    if len(given) == 1:
        given.append(given[0])
    dtype = torch.result_type(given[0], given[1])
    for other in given[2:]:
        dtype = torch.promote_types(dtype, torch.result_type(given[0], other))
    return dtype


def floating(dtype: torch.dtype) -> torch.dtype:
    """The type of a result that is no integer."""
    return dtype if dtype.is_floating_point else torch.get_default_dtype()


def pair(value: int | Sequence[int], count: int = 2) -> list[int]:
    """``count`` integers of one or of a list."""
    values = [value] if isinstance(value, int) else list(value)
    return [int(one) for one in (values * count if len(values) == 1 else values)]
