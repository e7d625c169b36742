"""``torch.npu``: the device module of the NPU, with the interfaces of ``torch.cuda``."""

import atexit
import sys

import torch

from torch_npu import _compat
from torch_npu.multiprocessing import reductions
from torch_npu.npu import _state, amp, memory
from torch_npu.npu._missing import missing_attribute
from torch_npu.npu.device import (
    NPUDeviceProperties,
    current_device,
    device,
    device_count,
    device_of,
    get_device_name,
    get_device_properties,
    init,
    ipc_collect,
    is_available,
    is_initialized,
    set_device,
    synchronize,
    unavailable_reason,
)
from torch_npu.npu.device import _is_in_bad_fork as _is_in_bad_fork
from torch_npu.npu.device import _lazy_init as _lazy_init
from torch_npu.npu.memory import (
    caching_allocator_alloc,
    caching_allocator_delete,
    empty_cache,
    empty_virt_addr_cache,
    get_allocator_backend,
    get_per_process_memory_fraction,
    host_empty_cache,
    host_memory_stats,
    host_memory_stats_as_nested_dict,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_host_memory_stats,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_host_memory_stats,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from torch_npu.npu.named_options import set_option
from torch_npu.npu.options import (
    CubeMathType,
    config,
    conv,
    get_operator_fallback,
    get_task_queue_enable,
    is_jit_compile_false,
    matmul,
    set_compile_mode,
    set_op_timeout_ms,
    set_operator_fallback,
    set_task_queue_enable,
)
from torch_npu.npu.random import (
    _make_default_generators,
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from torch_npu.npu.streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)

default_generators: tuple[torch.Generator, ...] = ()


def get_amp_supported_dtype() -> list[torch.dtype]:
    """The dtypes that autocast may use on npu."""
    return [torch.float16, torch.bfloat16, torch.float32]


def is_bf16_supported() -> bool:
    """Whether bfloat16 is supported: always True."""
    return True


def __getattr__(name: str) -> object:
    # torch.utils.checkpoint saves the generators' state only if the device module says that it is initialised.
    if name == "_initialized":
        return is_initialized()
    # Inductor asks a device that is not registered yet for its code generators. The import registers them, with a cache
    # key, which attributes cannot give.
    if name == "Scheduling":
        from torch_npu import _inductor  # noqa: F401
    raise missing_attribute(sys.modules[__name__], name)


def _finish() -> None:
    """Waits for queued work when the interpreter ends. After a Ctrl-C the work is dropped instead.

    Failed work that was never waited for is reported here, and the process exits with an error.
    """
    from torch_npu import _C

    if getattr(sys, "last_type", None) is not KeyboardInterrupt:
        failure = _C.shutdown()
        if failure:
            print(f"Work on the npu that nobody waited for failed: {failure}", file=sys.stderr)
    _C.close_shared()  # after the wait: queued work may write memory of other processes


def _register(load_error: Exception | None) -> None:
    """Makes ``npu`` a device of PyTorch; without the native part it is not available."""
    global default_generators
    torch.utils.rename_privateuse1_backend("npu")
    torch._register_device_module("npu", sys.modules[__name__])
    if load_error is not None:
        _state.attach(None, str(load_error))
        return
    from torch_npu import _C, _compile_hook
    from torch_npu.utils import batching_rules, fake_kernels

    _state.attach(_C, "")
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
    default_generators = _make_default_generators()
    reductions.register()
    _compat.apply()
    fake_kernels.register()
    batching_rules.register()
    _compile_hook.install()
    atexit.register(_finish)


__all__ = [
    "CubeMathType",
    "Event",
    "NPUDeviceProperties",
    "Stream",
    "StreamContext",
    "amp",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "config",
    "conv",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "empty_virt_addr_cache",
    "get_allocator_backend",
    "get_amp_supported_dtype",
    "get_device_name",
    "get_device_properties",
    "get_operator_fallback",
    "get_per_process_memory_fraction",
    "get_rng_state",
    "get_rng_state_all",
    "get_task_queue_enable",
    "host_empty_cache",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "is_jit_compile_false",
    "manual_seed",
    "manual_seed_all",
    "matmul",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_compile_mode",
    "set_device",
    "set_op_timeout_ms",
    "set_operator_fallback",
    "set_option",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "set_task_queue_enable",
    "stream",
    "synchronize",
    "unavailable_reason",
]
