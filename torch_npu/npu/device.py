"""Devices: their number, the current one, their properties. Interfaces follow torch.cuda."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import torch

from torch_npu._core import devices, state
from torch_npu.npu import _receivers


def is_available() -> bool:
    """Whether an NPU can be used. Initialises nothing and never raises; see :func:`unavailable_reason`."""
    return device_count() > 0


def unavailable_reason() -> str:
    """Why :func:`is_available` is False, as one sentence; empty if it is True."""
    return state.unavailable_reason()


def device_count() -> int:
    """The number of NPUs. Initialises nothing and never raises."""
    return int(state.native().device_count()) if state.is_loaded() else 0


def is_initialized() -> bool:
    """Whether this process has started the NPU runtime."""
    return state.is_loaded() and bool(state.native().is_initialized()) and not _is_in_bad_fork()


def init() -> None:
    """Starts the NPU runtime; the first npu tensor does so by itself.

    Raises:
        RuntimeError: there is no device, or this process was forked after the parent used the NPU.
    """
    _lazy_init()


def _lazy_init() -> None:
    if _is_in_bad_fork():
        raise RuntimeError(
            "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you must use the "
            "'spawn' start method"
        )
    if not is_available():
        raise RuntimeError(f"No NPU is available: {unavailable_reason()}")
    state.native().init()


def _lazy_call(callback: Callable[[], object]) -> None:
    """Runs the callback at once: what it calls starts the NPU runtime by itself, so nothing has to wait for it."""
    callback()


def _is_in_bad_fork() -> bool:
    return state.is_loaded() and bool(state.native().in_bad_fork())


def current_device() -> int:
    """The index of the current device of this thread."""
    return int(state.native().current_device())


def set_device(device: devices.Device) -> None:
    """Makes ``device`` (index, string or torch.device) this thread's current device.

    Raises:
        RuntimeError: it does not exist.
    """
    index = devices.device_index(device)
    if index >= 0:
        state.native().set_device(index)


def npurt() -> ModuleType:
    """The module of direct calls of the runtime: raw streams and registered host memory."""
    _lazy_init()
    from torch_npu.npu import runtime

    return runtime


def synchronize(device: devices.Device = None) -> None:
    """Waits for all work on ``device`` and raises errors of asynchronous work."""
    state.native().synchronize(devices.device_index(device))


def get_device_name(device_name: devices.Device = None) -> str:
    """The name of the emulated SoC, such as ``Ascend910B1``. Initialises nothing.

    Raises:
        RuntimeError: the device does not exist.
    """
    index = devices.device_index(device_name)
    if index >= device_count():
        raise RuntimeError(
            f"Invalid NPU device index npu:{index}: there are {device_count()} devices"
        )
    return str(state.native().soc_name())


@dataclass(frozen=True)
class NPUDeviceProperties:
    """The properties of a device: its name, memory and cache in bytes, cores, and whether it is a software NPU.

    What only GPUs have is None, so that programs can ask for it.
    """

    name: str
    total_memory: int
    cube_core_num: int
    vector_core_num: int
    multi_processor_count: int
    softnpu: str
    L2_cache_size: int
    major: None = None
    minor: None = None
    gcnArchName: None = None  # noqa: N815
    is_integrated: None = None
    is_multi_gpu_board: None = None
    max_threads_per_multi_processor: None = None
    regs_per_multiprocessor: None = None
    warp_size: None = None


def _l2_cache_size() -> int:
    """The size of the host's second cache in bytes; 0 if the system does not tell."""
    try:
        return max(0, os.sysconf("SC_LEVEL2_CACHE_SIZE"))
    except (ValueError, OSError):
        return 0


def get_device_properties(device_name: devices.Device = None) -> NPUDeviceProperties:
    """The properties of a device; ``softnpu`` is softnpu's version, empty on real hardware."""
    index = devices.device_index(device_name)
    cores = torch.get_num_threads()
    return NPUDeviceProperties(
        name=get_device_name(index),
        total_memory=int(state.native().mem_get_info(index)[1]),
        cube_core_num=cores,
        vector_core_num=cores,
        multi_processor_count=cores,
        softnpu=str(state.native().softnpu_version()),
        L2_cache_size=_l2_cache_size(),
    )


class device:  # noqa: N801
    """Context manager: ``with torch.npu.device(1): ...``; a negative index or None changes nothing."""

    def __init__(self, device: devices.Device) -> None:
        """Takes an index, a string or a torch.device."""
        self.index = -1 if device is None else devices.device_index(device)
        self.previous = -1

    def __enter__(self) -> "device":
        """Switches to the device."""
        self.previous = current_device()
        if self.index >= 0 and self.index != self.previous:
            set_device(self.index)
        return self

    def __exit__(self, *_: object) -> None:
        """Switches back."""
        if self.index >= 0 and self.previous != self.index:
            set_device(self.previous)


class device_of(device):  # noqa: N801
    """Context manager: the device of a tensor or storage; other objects change nothing."""

    def __init__(self, obj: object) -> None:
        """Takes a tensor or a storage."""
        super().__init__(obj.get_device() if getattr(obj, "is_npu", False) else None)  # type: ignore[attr-defined]


def ipc_collect() -> None:
    """Frees memory that this process shared and dropped, and that no other process uses."""
    if state.native().is_initialized():
        _receivers.collect()
        state.native().ipc_collect()
