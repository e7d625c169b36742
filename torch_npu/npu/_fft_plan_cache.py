"""The cache of FFT plans."""


class NPUFFTPlanCache:
    """The interface of ``torch.backends.cuda.cufft_plan_cache``.

    Transforms of the software NPU need no plans, so the cache stays empty; its limit can be set and read.
    """

    __slots__ = ("_max_size",)

    def __init__(self) -> None:
        """An empty cache with the limit 50, the official plug-in's."""
        self._max_size = 50

    @property
    def size(self) -> int:
        """The number of cached plans: 0."""
        return 0

    @size.setter
    def size(self, value: int) -> None:
        raise RuntimeError(
            ".size is a read-only property showing the number of plans currently in the cache."
        )

    @property
    def max_size(self) -> int:
        """The maximum of :attr:`size`."""
        return self._max_size

    @max_size.setter
    def max_size(self, value: int) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise RuntimeError(f"max_size must be a non-negative integer, but got {value!r}")
        self._max_size = value

    def clear(self) -> None:
        """Drops all plans; there are none."""
