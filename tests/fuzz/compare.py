"""Whether two lists of results are equal except for rounding, which the judge of OpInfo checks."""

import torch

# The first words of a verdict on a CPU that gives another result for the same numbers stored densely.
MISREADS = "misread strides:"


def same_bits(expected: list, actual: list) -> bool:
    """Whether all results are equal; NaN equals NaN, 0.0 equals -0.0."""
    return len(expected) == len(actual) and all(
        _is_same(e, a) for e, a in zip(expected, actual, strict=True)
    )


def _is_same(e: object, a: object) -> bool:
    if not isinstance(e, torch.Tensor) or not isinstance(a, torch.Tensor):
        return type(e) is type(a) and bool(e == a or (e != e and a != a))
    if (e.shape, e.dtype) != (a.shape, a.dtype):
        return False
    if e.dtype == torch.complex32:  # complex32 has no comparison operators
        e, a = e.to(torch.complex64), a.to(torch.complex64)
    if torch.equal(e, a):
        return True
    return bool(((e == a) | ((e != e) & (a != a))).all())


def structure_problem(expected: list, actual: list) -> str:
    """Which result differs in type, shape or dtype from the CPU's; empty if none does."""
    if len(expected) != len(actual):
        return f"{len(actual)} results, not {len(expected)}"
    for index, (e, a) in enumerate(zip(expected, actual, strict=True)):
        if type(e) is not type(a):
            return f"result {index} is {type(a).__name__}, not {type(e).__name__}"
        if isinstance(e, torch.Tensor) and (e.shape, e.dtype) != (a.shape, a.dtype):
            return f"result {index} is {a.dtype} {list(a.shape)}, not {e.dtype} {list(e.shape)}"
    return ""
