"""Compiles a generated kernel and loads it. The modules that Inductor writes, and caches on disk, call it."""

import ctypes
from collections.abc import Callable
from typing import Any, ClassVar

from torch._inductor.async_compile import AsyncCompile, get_compile_threads
from torch._inductor.codecache import CppCodeCache, LambdaFuture
from torch._inductor.utils import clear_on_fresh_cache

from torch_npu._core import state
from torch_npu._inductor.source import PREFIX_HEADER, signature_of, with_entries, work_of


@clear_on_fresh_cache
class _NpuCodeCache(CppCodeCache):
    """The libraries of npu's kernels, by source and compiler's command line."""

    cache: ClassVar[dict[str, Callable[[], Any]]] = {}
    cache_clear = staticmethod(cache.clear)
    cpp_compile_command_flags: ClassVar[dict[str, Any]] = {"include_pytorch": False, "shared": True}

    @classmethod
    def _get_uncompiled_header(cls, device: str) -> str:
        return PREFIX_HEADER


def _address(function: Any) -> int:  # noqa: ANN401
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def compile_npu_kernel(
    async_compile: AsyncCompile, name: str, threads: int, argument_types: list[str], source: str
) -> object:
    """Starts the compilation of a kernel.

    Args:
        async_compile: The generated module's; its ``wait`` replaces the result by the kernel.
        name: For traces and errors.
        threads: The most threads of the kernel's regions.
        argument_types: The C++ types of its parameters; a pointer that is not const is written.
        source: C++ that defines ``kernel``.

    Returns:
        The kernel: a function of tensors and numbers that enqueues a call in the current stream; or a future of it.
    """
    is_inline = get_compile_threads() <= 1
    library = _NpuCodeCache.load_async(
        with_entries(source, argument_types, threads),
        submit_fn=None if is_inline else async_compile.submit,
    )
    signature = signature_of(argument_types)
    kernel: Any = None

    def load() -> object:
        nonlocal kernel
        if kernel is None:
            loaded = library()
            addresses = (_address(loaded.torch_npu_run), _address(loaded.torch_npu_bind))
            kernel = state.native().load_kernel(name, signature, *addresses, work_of(source))
        return kernel

    return load() if is_inline else LambdaFuture(load)
