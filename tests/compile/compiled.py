"""Compares compiled functions with eager ones."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map_only

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
from torch_npu.accuracy.dtypes import epsilon, largest_finite


def check_near(
    actual: object, expected: object, terms: int = 1, *, equal_nan: bool = False
) -> None:
    """Checks that tensors differ by no more than the roundings of sums of ``terms`` numbers.

    A sum's error is a random walk of its roundings; sixteen deviations of it, relative to the largest result, leave room
    for a handful of operations before and after.
    """
    ours, theirs = tree_leaves(actual), tree_leaves(expected)
    assert len(ours) == len(theirs)
    for a, e in zip(ours, theirs, strict=True):
        bound = 16 * epsilon(e.dtype) * math.sqrt(terms) * largest_finite(e)
        accuracy.assert_close(a, e, Tolerance(absolute=bound), equal_nan=equal_nan)


def to_npu(tree: object) -> object:
    """Copies of a tree's tensors."""
    return tree_map_only(Tensor, lambda t: t.npu(), tree)


def check_compiled(
    function: Callable, *inputs: object, terms: int = 1, **options: object
) -> Callable:
    """Checks ``function`` compiled for npu against eager on the CPU; returns it compiled."""
    compiled = torch.compile(function, fullgraph=True, **options)
    result = compiled(*to_npu(inputs))
    assert {t.device.type for t in tree_leaves(result)} == {"npu"}
    check_near(result, function(*inputs), terms)
    return compiled
