"""Device memory: statistics in bytes, the cache. Interfaces follow torch.cuda.memory."""

import os
import pickle
import sys
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Literal

from torch_npu._core import devices, environment, state
from torch_npu._core.errors import ErrCode, pta_error
from torch_npu.npu import _receivers
from torch_npu.npu.mem_pool import (
    MemPool,
    NPUPluggableAllocator,
    _get_current_allocator,
    _NPUAllocator,
    change_current_allocator,
    memory_snapshot,
    use_mem_pool,
)

__all__ = [
    "MemPool",
    "NPUPluggableAllocator",
    "_NPUAllocator",
    "_dump_snapshot",
    "_get_current_allocator",
    "_record_memory_history",
    "_save_memory_usage",
    "_save_segment_usage",
    "_set_allocator_settings",
    "_snapshot",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "change_current_allocator",
    "empty_cache",
    "empty_virt_addr_cache",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "host_empty_cache",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
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
    "set_per_process_memory_fraction",
    "use_mem_pool",
]


def _flatten(prefix: str, value: Mapping | int, out: dict[str, int]) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _flatten(f"{prefix}.{key}" if prefix else key, inner, out)
    else:
        out[prefix] = value


def memory_stats(device: devices.Device = None) -> "OrderedDict[str, int]":
    """Every statistic of the caching allocator, by dotted name; empty before the device is used."""
    if not state.native().is_initialized():
        return OrderedDict()
    flat: dict[str, int] = {}
    _flatten("", state.native().memory_stats(devices.device_index(device)), flat)
    return OrderedDict(sorted(flat.items()))


def memory_allocated(device: devices.Device = None) -> int:
    """Bytes that tensors currently use."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: devices.Device = None) -> int:
    """The maximum of :func:`memory_allocated` since the start or :func:`reset_peak_memory_stats`."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: devices.Device = None) -> int:
    """Bytes that the allocator has reserved, used and cached."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: devices.Device = None) -> int:
    """The maximum of :func:`memory_reserved`."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def reset_peak_memory_stats(device: devices.Device = None) -> None:
    """Resets the peaks to the current values."""
    state.native().reset_peak_memory_stats(devices.device_index(device))


def reset_accumulated_memory_stats(device: devices.Device = None) -> None:
    """Resets the totals."""
    state.native().reset_accumulated_memory_stats(devices.device_index(device))


def empty_cache() -> None:
    """Returns cached memory that no tensor uses to the device; what :func:`torch.npu.ipc_collect` frees, too."""
    if state.native().is_initialized():
        _receivers.collect()
        state.native().ipc_collect()
        state.native().empty_cache()


def mem_get_info(device: devices.Device = None) -> tuple[int, int]:
    """Free and total bytes of the device."""
    free, total = state.native().mem_get_info(devices.device_index(device))
    return int(free), int(total)


def memory_stats_as_nested_dict(device: devices.Device = None) -> dict[str, Any]:
    """The statistics of :func:`memory_stats` as nested dictionaries; empty before the device is used."""
    if not state.native().is_initialized():
        return {}
    return dict(state.native().memory_stats(devices.device_index(device)))


def set_per_process_memory_fraction(fraction: float, device: devices.Device = None) -> None:
    """Limits what this process may reserve on ``device`` to a fraction of its memory.

    Raises:
        TypeError: ``fraction`` is not a float.
        ValueError: it is not between 0 and 1.
    """
    if not isinstance(fraction, float):
        raise TypeError(
            "Invalid type for fraction argument, must be `float`" + pta_error(ErrCode.TYPE)
        )
    if not 0 <= fraction <= 1:
        raise ValueError(
            f"Invalid fraction value: {fraction}. Allowed range: 0~1" + pta_error(ErrCode.VALUE)
        )
    state.native().set_memory_fraction(fraction, devices.device_index(device))


def get_per_process_memory_fraction(device: devices.Device = None) -> float:
    """The limit of :func:`set_per_process_memory_fraction`; 1.0 if none was set."""
    return float(state.native().memory_fraction(devices.device_index(device)))


def caching_allocator_alloc(size: int, device: devices.Device = None, stream: object = None) -> int:
    """Allocates from the caching allocator and returns the address, for :func:`caching_allocator_delete`.

    Args:
        size: in bytes.
        device: the current one by default.
        stream: a :class:`torch.npu.Stream` that uses the memory; the current one by default.
    """
    from torch_npu.npu.streams import Stream, StreamContext

    if stream is not None and not isinstance(stream, Stream):
        raise TypeError(
            "Invalid type for stream argument, must be `torch.npu.Stream` or None; "
            f"got: {type(stream).__name__}" + pta_error(ErrCode.TYPE)
        )
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"size must be an int, not {type(size).__name__}" + pta_error(ErrCode.TYPE))
    index = devices.device_index(device)
    if stream is not None and stream.device_index != index:
        raise RuntimeError(f"the stream belongs to npu:{stream.device_index}, not to npu:{index}")
    with StreamContext(stream):
        return int(state.native().caching_allocator_alloc(index, size))


def caching_allocator_delete(mem_ptr: int) -> None:
    """Frees memory from :func:`caching_allocator_alloc`."""
    state.native().caching_allocator_delete(mem_ptr)


def _record_memory_history(
    enabled: Literal["state", "all"] | None = "all",
    context: Literal["state", "alloc", "all"] | None = "all",
    stacks: Literal["python", "all"] = "all",
    max_entries: int = sys.maxsize,
    device: devices.Device = None,
) -> None:
    """Records stacks of allocations, and a list of the allocator's events, for :func:`_snapshot`.

    Args:
        enabled: ``"state"`` for live blocks only, ``"all"`` for the list as well, None to stop and discard.
        context: which stacks are recorded: ``"state"`` live blocks, ``"alloc"`` also the list's allocations, ``"all"``
            also frees, None none.
        stacks: ``"python"``, or ``"all"`` with C++ frames.
        max_entries: the maximum length of the list; the oldest entries are dropped.
        device: accepted for torch.cuda's signature; all devices are recorded.

    Raises:
        ValueError: an argument is none of these.
    """
    state.native().init()
    state.native().record_memory_history(enabled, context, stacks, max_entries)


def _snapshot(
    device: devices.Device = None, augment_with_fx_traces: bool = False
) -> dict[str, Any]:
    """The allocator's state and history: ``segments``, ``device_traces`` and ``allocator_settings``.

    The structure is that of ``torch.cuda.memory._snapshot()``, which PyTorch's viewers read
    (``torch.cuda._memory_viz``, pytorch.org/memory_viz).

    Args:
        device: accepted for torch.cuda's signature; all devices are included.
        augment_with_fx_traces: adds the model's own lines to frames of FX generated code.
    """
    snapshot = dict(state.native().snapshot_with_history())
    if augment_with_fx_traces:
        from torch._utils import _augment_memory_snapshot_stack_traces

        snapshot = _augment_memory_snapshot_stack_traces(snapshot)
    return snapshot


def _dump_snapshot(
    filename: str = "dump_snapshot.pickle", augment_with_fx_traces: bool = False
) -> None:
    """Writes :func:`_snapshot` to a file for PyTorch's viewers."""
    with open(filename, "wb") as file:
        pickle.dump(_snapshot(augment_with_fx_traces=augment_with_fx_traces), file)


def _save_segment_usage(
    filename: str = "output.svg", snapshot: dict[str, Any] | None = None
) -> None:
    """Writes the snapshot's segments as a flame graph."""
    from torch.cuda import _memory_viz

    snapshot = _snapshot() if snapshot is None else snapshot
    with open(filename, "w") as file:
        file.write(_memory_viz.segments(snapshot, _memory_viz.format_flamegraph))


def _save_memory_usage(
    filename: str = "output.svg", snapshot: dict[str, Any] | None = None
) -> None:
    """Writes the snapshot's blocks, by the stack that allocated them, as a flame graph."""
    from torch.cuda import _memory_viz

    snapshot = _snapshot() if snapshot is None else snapshot
    with open(filename, "w") as file:
        file.write(_memory_viz.memory(snapshot, _memory_viz.format_flamegraph))


def _dump_when_out_of_memory() -> None:
    """``OOM_SNAPSHOT_ENABLE=1``: records the history, and dumps it to ``OOM_SNAPSHOT_PATH`` when memory runs out."""
    if environment.choice("OOM_SNAPSHOT_ENABLE") == "0":
        return
    folder = environment.text("OOM_SNAPSHOT_PATH")

    def dump(device: int) -> None:
        stamp = time.strftime("%Y%m%d%H%M%S")
        name = f"oom_snapshot_{os.getpid()}_{device}_{stamp}.pickle"
        _dump_snapshot(os.path.join(folder, name))

    state.native().record_memory_history("all", "all", "python", sys.maxsize)
    state.native().set_out_of_memory_observer(dump)


def _set_allocator_settings(settings: str) -> None:
    """Changes the settings of ``PYTORCH_NPU_ALLOC_CONF`` for later allocations.

    Args:
        settings: comma-separated ``key:value`` pairs, such as ``expandable_segments:True``.
    """
    state.native().set_allocator_settings(settings)


def empty_virt_addr_cache() -> None:
    """Releases free addresses of expandable segments, with their memory.

    Here addresses are released together with their memory, so this is :func:`empty_cache`.
    """
    empty_cache()


def get_allocator_backend() -> str:
    """The allocator in use: ``native``, or ``pluggable`` after :func:`change_current_allocator`."""
    return "pluggable" if state.native().has_custom_allocator() else "native"


def host_memory_stats() -> "OrderedDict[str, int]":
    """Statistics of the caching allocator of pinned host memory, by dotted name."""
    flat: dict[str, int] = {}
    _flatten("", state.native().host_memory_stats(), flat)
    return OrderedDict(sorted(flat.items()))


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """The same as nested dictionaries."""
    return dict(state.native().host_memory_stats())


def host_empty_cache() -> None:
    """Returns cached pinned memory to the system."""
    state.native().host_empty_cache()


def reset_peak_host_memory_stats() -> None:
    """Resets the peaks of :func:`host_memory_stats`."""
    state.native().reset_peak_host_memory_stats()


def reset_accumulated_host_memory_stats() -> None:
    """Resets the totals of :func:`host_memory_stats`."""
    state.native().reset_accumulated_host_memory_stats()


def reset_max_memory_allocated(device: devices.Device = None) -> None:
    """The old name of :func:`reset_peak_memory_stats`, which resets all peaks."""
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: devices.Device = None) -> None:
    """The old name of :func:`reset_peak_memory_stats`, which resets all peaks."""
    reset_peak_memory_stats(device)


def memory_cached(device: devices.Device = None) -> int:
    """The old name of :func:`memory_reserved`."""
    return memory_reserved(device)


def max_memory_cached(device: devices.Device = None) -> int:
    """The old name of :func:`max_memory_reserved`."""
    return max_memory_reserved(device)


_SUMMARY = (
    ("allocated_bytes", "Allocated memory", True),
    ("active_bytes", "Active memory", True),
    ("requested_bytes", "Requested memory", True),
    ("reserved_bytes", "NPU reserved memory", True),
    ("inactive_split_bytes", "Non-releasable memory", True),
    ("allocation", "Allocations", False),
    ("active", "Active allocs", False),
    ("segment", "NPU reserved segments", False),
    ("inactive_split", "Non-releasable allocs", False),
)
_POOLS = (("all", ""), ("large_pool", "from large pool"), ("small_pool", "from small pool"))


def _amount(value: int, is_bytes: bool) -> str:
    if not is_bytes:
        return f"{value:,}"
    size = float(value)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 10240 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}"


def memory_summary(device: devices.Device = None, abbreviated: bool = False) -> str:
    """The statistics of ``device`` as a table: current, peak, total allocated and freed.

    Args:
        device: the current one by default.
        abbreviated: omits the rows of the large and the small pool.
    """
    index = devices.device_index(device)
    stats = memory_stats(index)
    columns = (
        ("current", "Cur Usage"),
        ("peak", "Peak Usage"),
        ("allocated", "Tot Alloc"),
        ("freed", "Tot Freed"),
    )
    rule = "|" + "=" * 79 + "|"
    lines = [
        rule,
        f"|{f'PyTorch NPU memory summary, device ID {index}':^79}|",
        f"|{'NPU OOMs: ' + str(stats.get('num_ooms', 0)):^39}|{'aclrtMalloc retries: ' + str(stats.get('num_alloc_retries', 0)):^39}|",
        rule,
        f"|{'Metric':^23}|" + "|".join(f"{title:^13}" for _, title in columns) + "|",
    ]
    for key, title, is_bytes in _SUMMARY:
        lines.append("|" + "-" * 79 + "|")
        for pool, name in _POOLS if not abbreviated else _POOLS[:1]:
            values = [stats.get(f"{key}.{pool}.{column}", 0) for column, _ in columns]
            cells = "|".join(f"{_amount(value, is_bytes):>12} " for value in values)
            lines.append(f"| {name or title:<22}|{cells}|")
    return "\n".join([*lines, rule]) + "\n"
