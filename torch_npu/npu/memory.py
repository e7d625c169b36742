"""Device memory: statistics in bytes, the cache. Interfaces follow torch.cuda.memory."""

from collections import OrderedDict
from collections.abc import Mapping

from torch_npu.npu import _state


def _flatten(prefix: str, value: Mapping | int, out: dict[str, int]) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _flatten(f"{prefix}.{key}" if prefix else key, inner, out)
    else:
        out[prefix] = value


def memory_stats(device: _state.Device = None) -> "OrderedDict[str, int]":
    """Every statistic of the caching allocator, by dotted name; empty before the device is used."""
    if not _state.native().is_initialized():
        return OrderedDict()
    flat: dict[str, int] = {}
    _flatten("", _state.native().memory_stats(_state.device_index(device)), flat)
    return OrderedDict(sorted(flat.items()))


def memory_allocated(device: _state.Device = None) -> int:
    """Bytes that tensors hold now."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: _state.Device = None) -> int:
    """The most bytes that tensors held, since the start or :func:`reset_peak_memory_stats`."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: _state.Device = None) -> int:
    """Bytes that the allocator holds, used and cached."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: _state.Device = None) -> int:
    """The most bytes that the allocator held."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def reset_peak_memory_stats(device: _state.Device = None) -> None:
    """Starts the peaks anew from what is in use now."""
    _state.native().reset_peak_memory_stats(_state.device_index(device))


def reset_accumulated_memory_stats(device: _state.Device = None) -> None:
    """Starts the totals anew."""
    _state.native().reset_accumulated_memory_stats(_state.device_index(device))


def empty_cache() -> None:
    """Gives cached memory that no tensor uses back to the device."""
    if _state.native().is_initialized():
        _state.native().empty_cache()


def mem_get_info(device: _state.Device = None) -> tuple[int, int]:
    """Free and total bytes of the device."""
    free, total = _state.native().mem_get_info(_state.device_index(device))
    return int(free), int(total)
