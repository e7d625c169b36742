"""Comparisons as a table."""

from collections.abc import Mapping

from torch_npu._core.columns import aligned
from torch_npu.accuracy.comparison import Comparison

_HEAD = (
    "name",
    "shape",
    "dtype",
    "wrong",
    "max abs diff",
    "max rel diff",
    "cosine",
    "verdict",
)


def _row(name: str, found: Comparison) -> tuple[str, ...]:
    shape = "x".join(map(str, found.shape)) or "scalar"
    dtype = str(found.dtype).removeprefix("torch.")
    if found.problem:
        return (name, shape, dtype, "-", "-", "-", "-", found.problem)
    return (
        name,
        shape,
        dtype,
        f"{found.wrong} of {found.elements}",
        f"{found.max_absolute:.3g}",
        f"{found.max_relative:.3g}",
        f"{found.cosine:.6f}",
        "close" if found.is_close else "differs",
    )


def table(comparisons: Mapping[str, Comparison]) -> str:
    """A line for each comparison, in aligned columns below a head.

    Args:
        comparisons: by the name that the line begins with.

    Returns:
        name, shape, dtype, wrong elements, largest absolute and relative difference, cosine similarity, verdict; without a
        newline at the end.
    """
    rows = [_row(name, found) for name, found in comparisons.items()]
    return "\n".join(aligned([_HEAD, *rows], right=range(3, 7)))
