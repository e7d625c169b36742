"""Lists of results: whether they have the same structure, and the same numbers."""

from collections.abc import Sequence

import torch

from torch_npu.accuracy.elements import equal_elements


def same_values(expected: Sequence[object], actual: Sequence[object]) -> bool:
    """Whether two lists of tensors and numbers are equal; NaN equals NaN, 0.0 equals -0.0.

    Args:
        expected: tensors on the CPU, and values that have ``==``.
        actual: of the same length, types, shapes and dtypes if the lists are equal.
    """
    return len(expected) == len(actual) and all(
        _is_same(e, a) for e, a in zip(expected, actual, strict=True)
    )


def _is_same(e: object, a: object) -> bool:
    if not isinstance(e, torch.Tensor) or not isinstance(a, torch.Tensor):
        return type(e) is type(a) and bool(e == a or (e != e and a != a))
    if (e.shape, e.dtype) != (a.shape, a.dtype):
        return False
    return bool(equal_elements(e, a).all())


def structure_problem(expected: Sequence[object], actual: Sequence[object]) -> str:
    """Which of the ``actual`` results differs in type, shape or dtype from the expected one; empty if none does."""
    if len(expected) != len(actual):
        return f"{len(actual)} results, not {len(expected)}"
    for index, (e, a) in enumerate(zip(expected, actual, strict=True)):
        if type(e) is not type(a):
            return f"result {index} is {type(a).__name__}, not {type(e).__name__}"
        if not isinstance(e, torch.Tensor) or not isinstance(a, torch.Tensor):
            continue
        if (e.shape, e.dtype) != (a.shape, a.dtype):
            return f"result {index} is {a.dtype} {list(a.shape)}, not {e.dtype} {list(e.shape)}"
    return ""
