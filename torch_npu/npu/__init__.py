"""``torch.npu``: the device module of the NPU, with the interfaces of ``torch.cuda``."""

import sys
from collections.abc import Callable

import torch

from torch_npu._core.missing import missing_attribute
from torch_npu.npu import (
    aclnn,
    amp,
    autocast_utils,
    backends,
    deterministic,
    legacy,
    memory,
    npu_config,
    profiler,
    utils,
)
from torch_npu.npu.autocast_utils import (
    get_amp_supported_dtype,
    get_autocast_dtype,
    is_autocast_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from torch_npu.npu.backends import (
    enable_flash_sdp,
    enable_math_sdp,
    enable_mem_efficient_sdp,
    flash_sdp_enabled,
    math_sdp_enabled,
    mem_efficient_sdp_enabled,
    preferred_linalg_library,
    sdp_kernel,
)
from torch_npu.npu.capability import (
    can_device_access_peer,
    current_blas_handle,
    get_device_capability,
    is_bf16_supported,
)
from torch_npu.npu.deterministic import (
    _get_deterministic_level as _get_deterministic_level,
)
from torch_npu.npu.deterministic import (
    disable_deterministic_with_backward,
    enable_deterministic_with_backward,
    set_deterministic_level,
)
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
    npurt,
    set_device,
    synchronize,
    unavailable_reason,
)
from torch_npu.npu.device import _is_in_bad_fork as _is_in_bad_fork
from torch_npu.npu.device import _lazy_call as _lazy_call
from torch_npu.npu.device import _lazy_init as _lazy_init
from torch_npu.npu.dump import finalize_dump, init_dump, set_dump
from torch_npu.npu.errors import AcceleratorError, DeferredNpuCallError, OutOfMemoryError
from torch_npu.npu.graphs import (
    NPUGraph,
    graph,
    graph_pool_handle,
    graph_task_group_begin,
    graph_task_group_end,
    graph_task_update_begin,
    graph_task_update_end,
    make_graphed_callables,
)
from torch_npu.npu.impl import are_compatible_impl_enabled, use_compatible_impl
from torch_npu.npu.legacy import *  # noqa: F403
from torch_npu.npu.limits import (
    get_device_limit,
    get_stream_limit,
    reset_stream_limit,
    set_device_limit,
    set_stream_limit,
)
from torch_npu.npu.memory import (
    MemPool,
    NPUPluggableAllocator,
    caching_allocator_alloc,
    caching_allocator_delete,
    change_current_allocator,
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
    use_mem_pool,
)
from torch_npu.npu.monitor import (
    clock_rate,
    memory_usage,
    power_draw,
    temperature,
    utilization,
)
from torch_npu.npu.mstx import mstx
from torch_npu.npu.obfuscation import (
    obfuscation_calculate,
    obfuscation_finalize,
    obfuscation_initialize,
)
from torch_npu.npu.official_options import (
    get_mm_bmm_format_nd,
    set_aoe,
    set_mm_bmm_format_nd,
    set_option,
)
from torch_npu.npu.options import (
    CubeMathType,
    config,
    conv,
    get_operator_fallback,
    get_sync_debug_mode,
    get_task_queue_enable,
    is_jit_compile_false,
    matmul,
    set_compile_mode,
    set_op_timeout_ms,
    set_operator_fallback,
    set_sync_debug_mode,
    set_task_queue_enable,
)
from torch_npu.npu.overflow import clear_npu_overflow_flag, get_npu_overflow_flag
from torch_npu.npu.random import _get_rng_state_offset as _get_rng_state_offset
from torch_npu.npu.random import _set_rng_state_offset as _set_rng_state_offset
from torch_npu.npu.random import (
    get_default_generator,
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
from torch_npu.npu.recovery import check_uce_in_memory, restart_device, stop_device
from torch_npu.npu.selftest import stress_detect
from torch_npu.npu.soc import get_soc_version
from torch_npu.npu.streams import (
    Event,
    ExternalEvent,
    ExternalStream,
    Stream,
    StreamContext,
    SyncLaunchStream,
    current_stream,
    default_stream,
    is_current_stream_capturing,
    set_stream,
    stream,
)
from torch_npu.npu.streams import _erase_stream as _erase_stream

default_generators: tuple[torch.Generator, ...] = ()


# What to do when one of these names is first asked for; torch_npu._registration fills it.
_first_uses: dict[str, Callable[[], None]] = {}


def __getattr__(name: str) -> object:
    # torch.utils.checkpoint saves the generators' state only if the device module says that it is initialised.
    if name == "_initialized":
        return is_initialized()
    if name in _first_uses:
        _first_uses[name]()
    raise missing_attribute(sys.modules[__name__], name)


__all__ = [
    "AcceleratorError",
    "CubeMathType",
    "DeferredNpuCallError",
    "Event",
    "ExternalEvent",
    "ExternalStream",
    "MemPool",
    "NPUDeviceProperties",
    "NPUGraph",
    "NPUPluggableAllocator",
    "OutOfMemoryError",
    "Stream",
    "StreamContext",
    "SyncLaunchStream",
    "aclnn",
    "amp",
    "are_compatible_impl_enabled",
    "autocast_utils",
    "backends",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "can_device_access_peer",
    "change_current_allocator",
    "check_uce_in_memory",
    "clear_npu_overflow_flag",
    "clock_rate",
    "config",
    "conv",
    "current_blas_handle",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "deterministic",
    "device",
    "device_count",
    "device_of",
    "disable_deterministic_with_backward",
    "empty_cache",
    "empty_virt_addr_cache",
    "enable_deterministic_with_backward",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "finalize_dump",
    "flash_sdp_enabled",
    "get_allocator_backend",
    "get_amp_supported_dtype",
    "get_autocast_dtype",
    "get_default_generator",
    "get_device_capability",
    "get_device_limit",
    "get_device_name",
    "get_device_properties",
    "get_mm_bmm_format_nd",
    "get_npu_overflow_flag",
    "get_operator_fallback",
    "get_per_process_memory_fraction",
    "get_rng_state",
    "get_rng_state_all",
    "get_soc_version",
    "get_stream_limit",
    "get_sync_debug_mode",
    "get_task_queue_enable",
    "graph",
    "graph_pool_handle",
    "graph_task_group_begin",
    "graph_task_group_end",
    "graph_task_update_begin",
    "graph_task_update_end",
    "host_empty_cache",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "init",
    "init_dump",
    "initial_seed",
    "ipc_collect",
    "is_autocast_enabled",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_jit_compile_false",
    "make_graphed_callables",
    "manual_seed",
    "manual_seed_all",
    "math_sdp_enabled",
    "matmul",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_efficient_sdp_enabled",
    "mem_get_info",
    "memory",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "memory_usage",
    "mstx",
    "npu_config",
    "npurt",
    "obfuscation_calculate",
    "obfuscation_finalize",
    "obfuscation_initialize",
    "power_draw",
    "preferred_linalg_library",
    "profiler",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
    "reset_stream_limit",
    "restart_device",
    "sdp_kernel",
    "seed",
    "seed_all",
    "set_aoe",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_compile_mode",
    "set_deterministic_level",
    "set_device",
    "set_device_limit",
    "set_dump",
    "set_mm_bmm_format_nd",
    "set_op_timeout_ms",
    "set_operator_fallback",
    "set_option",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "set_stream_limit",
    "set_sync_debug_mode",
    "set_task_queue_enable",
    "stop_device",
    "stream",
    "stress_detect",
    "synchronize",
    "temperature",
    "unavailable_reason",
    "use_compatible_impl",
    "use_mem_pool",
    "utilization",
    "utils",
]
__all__ += legacy.__all__
