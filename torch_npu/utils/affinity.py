"""The CPU cores of the calling thread."""

import os
import threading

_before = threading.local()


def _ranges(core_range: list) -> list[list[int]]:
    ranges = [core_range] if core_range and isinstance(core_range[0], int) else core_range
    for one in ranges:
        if not isinstance(one, list | tuple) or len(one) != 2:
            raise ValueError(
                f"Invalid core range: {core_range}: it is [first, last], or a list of them"
            )
        if not all(isinstance(core, int) for core in one) or not 0 <= one[0] <= one[1]:
            raise ValueError(f"Invalid core range values: {list(one)}")
    return ranges


def set_thread_affinity(core_range: list[int] | list[list[int]] | None = None) -> None:
    """Binds the calling thread to CPU cores; threads that it starts later inherit them.

    Args:
        core_range: ``[first, last]``, both inclusive, or a list of such ranges; None is
            :func:`reset_thread_affinity`.

    Raises:
        ValueError: it is no range of cores, or the process may use none of them.
    """
    if core_range is None:
        reset_thread_affinity()
        return
    if not isinstance(core_range, list) or not core_range:
        raise ValueError(
            f"Invalid core range: {core_range}: it is [first, last], or a list of them"
        )
    cores = {core for first, last in _ranges(core_range) for core in range(first, last + 1)}
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, cores)
    except OSError:
        raise ValueError(
            f"Invalid core range: {core_range}: this process has none of these cores"
        ) from None
    if not hasattr(_before, "cores"):
        _before.cores = before


def reset_thread_affinity() -> None:
    """Gives the calling thread the cores that it had before its first :func:`set_thread_affinity`."""
    if hasattr(_before, "cores"):
        os.sched_setaffinity(0, _before.cores)
        del _before.cores


__all__ = ["reset_thread_affinity", "set_thread_affinity"]
