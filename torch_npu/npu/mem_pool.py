"""Private memory pools, and allocators from shared libraries. Interfaces follow torch.cuda.memory."""

import ctypes
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch_npu._core import devices, state
from torch_npu._core.errors import ErrCode, pta_error


class _RawAllocator:
    """The addresses of two C functions; 0 for the device's own."""

    def __init__(self, allocate: int = 0, release: int = 0) -> None:
        self.allocate, self.release = allocate, release


class _NPUAllocator:
    """An allocator of device memory, for :func:`change_current_allocator` and :class:`MemPool`."""

    def __init__(self, allocator: _RawAllocator) -> None:
        """Takes the functions."""
        self._allocator = allocator

    def allocator(self) -> _RawAllocator:
        """The functions."""
        return self._allocator


class NPUPluggableAllocator(_NPUAllocator):
    """An allocator from a shared library.

    Its functions are ``void* alloc(ssize_t size, int device, aclrtStream stream)`` and
    ``void free(void* ptr, ssize_t size, int device, aclrtStream stream)``, sizes in bytes.
    """

    def __init__(self, path_to_so_file: str, alloc_fn_name: str, free_fn_name: str) -> None:
        """Loads the library, which stays loaded.

        Raises:
            OSError: the library cannot be loaded.
            AttributeError: it has no such function.
        """
        library = ctypes.CDLL(path_to_so_file)
        addresses = [
            ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
            for name in (alloc_fn_name, free_fn_name)
        ]
        if 0 in addresses:
            raise RuntimeError(f"{path_to_so_file} has a null function")
        super().__init__(_RawAllocator(*addresses))


_current: _NPUAllocator = _NPUAllocator(_RawAllocator())


def change_current_allocator(allocator: _NPUAllocator) -> None:
    """Makes all later npu tensors use ``allocator``, without cache and statistics.

    Raises:
        TypeError: ``allocator`` is not an :class:`NPUPluggableAllocator`.
        RuntimeError: the device is in use already.
    """
    global _current
    if not isinstance(allocator, _NPUAllocator):
        raise TypeError(
            f"allocator must be an NPUPluggableAllocator, not {type(allocator).__name__}"
            + pta_error(ErrCode.TYPE)
        )
    functions = allocator.allocator()
    if functions is _current.allocator():
        return
    state.native().set_current_allocator(functions.allocate, functions.release)
    _current = allocator


def _get_current_allocator() -> _NPUAllocator:
    """The allocator in use."""
    return _current


def memory_snapshot(mempool_id: tuple[int, int] | None = None) -> list[dict[str, Any]]:
    """Every segment of the caching allocator with its blocks, by address.

    Args:
        mempool_id: only segments of the :class:`MemPool` with this id; ``(0, 0)`` and None are all pools.
    """
    segments = list(state.native().memory_snapshot())
    if mempool_id in (None, (0, 0)):
        return segments
    return [s for s in segments if s["segment_pool_id"] == tuple(mempool_id)]


class MemPool:
    """A private pool of the caching allocator, made on the current device.

    Its free memory returns to the device with the pool; memory of live tensors follows once they are freed.

    Args:
        allocator: ``NPUPluggableAllocator(...).allocator()``, where the pool gets its memory; the device by default.
        use_on_oom: the pool's free memory serves other allocations before they fail.
        no_split: each segment holds one block.
    """

    def __init__(
        self,
        allocator: _RawAllocator | None = None,
        use_on_oom: bool = False,
        no_split: bool = False,
    ) -> None:
        """Makes an empty pool.

        Raises:
            TypeError: ``allocator`` is none.
        """
        if isinstance(allocator, _NPUAllocator):
            allocator = allocator.allocator()
        if allocator is not None and not isinstance(allocator, _RawAllocator):
            raise TypeError(
                f"allocator must come from NPUPluggableAllocator.allocator(), not {type(allocator).__name__}"
                + pta_error(ErrCode.TYPE)
            )
        functions = allocator or _RawAllocator()
        native = state.native()
        self._allocator = allocator
        self._device = devices.device_index()
        self._id = native.create_pool(
            self._device, functions.allocate, functions.release, bool(use_on_oom), bool(no_split)
        )
        end = weakref.finalize(self, native.release_pool, self._device, self._id)
        end.atexit = False  # the process returns its memory by itself

    @property
    def id(self) -> tuple[int, int]:
        """The pool's id: ``segment_pool_id`` of its segments in snapshots."""
        return tuple(self._id)

    @property
    def allocator(self) -> _RawAllocator | None:
        """The allocator that was given."""
        return self._allocator

    def use_count(self) -> int:
        """1 for this object, and 1 for each :func:`use_mem_pool` that is active."""
        return int(state.native().pool_use_count(self._device, self._id))

    def snapshot(self) -> list[dict[str, Any]]:
        """The pool's segments with their blocks, as :func:`torch.npu.memory_snapshot` has them."""
        return memory_snapshot(self.id)


@contextmanager
def use_mem_pool(pool: MemPool, device: devices.Device = None) -> Iterator[None]:
    """Allocations of this thread on ``device`` (default: the current one) come from ``pool``.

    Raises:
        TypeError: ``pool`` is no :class:`MemPool`.
    """
    if not isinstance(pool, MemPool):
        raise TypeError(
            f"pool must be a torch.npu.MemPool, not {type(pool).__name__}" + pta_error(ErrCode.TYPE)
        )
    native, index = state.native(), devices.device_index(device)
    native.begin_allocate_to_pool(index, pool.id)
    try:
        yield
    finally:
        native.end_allocate_to_pool(index, pool.id)
        native.release_pool(index, pool.id)
