"""Recorded graphs of launches, which ``mode="reduce-overhead"`` asks for: npu has none for compiled models."""

import warnings
from functools import cache


@cache
def warn_without_graphs() -> None:
    """Warns, once in a process."""
    warnings.warn(
        'torch.compile(mode="reduce-overhead") on npu launches each kernel, as the default mode does: there are no '
        "graphs of launches",
        stacklevel=2,
    )
