"""Where results are in memory: whether strides are the expected ones, and storages are no larger."""

from typing import NamedTuple

import torch
from torch.utils._pytree import tree_leaves

# The allocator's unit of memory in bytes.
BLOCK = 512


class Layout(NamedTuple):
    """Where a tensor's elements are in its storage.

    Args:
        sizes: elements along each dimension.
        strides: in elements.
        nbytes: the storage's size in bytes.
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    nbytes: int


def layout_of(t: torch.Tensor) -> Layout:
    """The layout of a strided tensor."""
    return Layout(tuple(t.shape), tuple(t.stride()), t.untyped_storage().nbytes())


def significant(layout: Layout) -> tuple[int, ...]:
    """The strides that determine where an element is; strides of one element, or of none, determine nothing."""
    if 0 in layout.sizes:
        return ()
    return tuple(s for n, s in zip(layout.sizes, layout.strides, strict=True) if n > 1)


def layout_problem(expected: Layout, actual: Layout) -> str:
    """What is wrong with the ``actual`` layout; empty if it has the expected strides and needs no more blocks."""
    if significant(expected) != significant(actual):
        return f"strides {actual.strides} of {actual.sizes}, not {expected.strides}"
    most = -(-expected.nbytes // BLOCK) * BLOCK
    if actual.nbytes > most:
        return f"a storage of {actual.nbytes} bytes, not of at most {most}"
    return ""


def _is_strided(t: object) -> bool:
    return isinstance(t, torch.Tensor) and t.layout == torch.strided and not t._is_zerotensor()


def layout_problems(expected: object, actual: object) -> list[str]:
    """`layout_problem` of each strided tensor of two trees of the same structure, with its number.

    Raises:
        ValueError: the trees have different numbers of leaves.
    """
    pairs = zip(tree_leaves(expected), tree_leaves(actual), strict=True)
    return [
        f"result {number} has {text}"
        for number, (e, a) in enumerate(pairs)
        if _is_strided(e)
        and _is_strided(a)
        and (text := layout_problem(layout_of(e), layout_of(a)))
    ]
