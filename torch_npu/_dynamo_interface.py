"""What Dynamo and Inductor ask of a device, for npu."""

from functools import partial

import torch
from torch._dynamo.device_interface import (
    DeviceInterface,
    caching_worker_current_devices,
    caching_worker_device_properties,
    register_interface_for_device,
)


def get_raw_stream(device_idx: int) -> int:
    """The id of the current stream of a device."""
    return torch.npu.current_stream(device_idx).stream_id


def _exchange_device(device: int) -> int:
    """Makes ``device`` current where it is not negative; returns the previous one."""
    previous = torch.npu.current_device()
    if device not in (previous, -1):
        torch.npu.set_device(device)
    return previous


def _index(device: torch.types.Device) -> int:
    """The index of a device; the worker's current one without."""
    if device is not None and not isinstance(device, int):
        device = torch.device(device).index
    return NpuInterface.Worker.current_device() if device is None else device


class NpuInterface(DeviceInterface):
    """The functions of ``torch.npu`` by the names that Dynamo uses."""

    device = torch.npu.device
    Event = torch.npu.Event
    Stream = torch.npu.Stream

    class Worker:
        """Answers in a process that compiles: from what was recorded, without the device."""

        @staticmethod
        def set_device(device: int) -> None:
            """Stores the current device."""
            caching_worker_current_devices["npu"] = device

        @staticmethod
        def current_device() -> int:
            """The stored device, else the current one."""
            known = caching_worker_current_devices.get("npu")
            return torch.npu.current_device() if known is None else known

        @staticmethod
        def get_device_properties(device: torch.types.Device = None) -> object:
            """The properties of a device, asked once."""
            if "npu" not in caching_worker_device_properties:
                caching_worker_device_properties["npu"] = [
                    torch.npu.get_device_properties(i) for i in range(torch.npu.device_count())
                ]
            return caching_worker_device_properties["npu"][_index(device)]

    current_device = staticmethod(torch.npu.current_device)
    set_device = staticmethod(torch.npu.set_device)
    exchange_device = staticmethod(_exchange_device)
    maybe_exchange_device = staticmethod(_exchange_device)
    device_count = staticmethod(torch.npu.device_count)
    is_available = staticmethod(torch.npu.is_available)
    stream = staticmethod(torch.npu.stream)
    current_stream = staticmethod(torch.npu.current_stream)
    set_stream = staticmethod(torch.npu.set_stream)
    get_raw_stream = staticmethod(get_raw_stream)
    synchronize = staticmethod(torch.npu.synchronize)
    memory_allocated = staticmethod(torch.npu.memory_allocated)

    @staticmethod
    def _set_stream_by_id(stream_id: int, device_index: int, device_type: int) -> None:
        stream = torch.npu.Stream(
            stream_id=stream_id, device_index=device_index, device_type=device_type
        )
        torch.npu.set_stream(stream)

    @staticmethod
    def get_compute_capability(device: torch.types.Device = None) -> str:
        """The name of the emulated SoC."""
        return torch.npu.get_device_name(device)

    @staticmethod
    def is_bf16_supported(including_emulation: bool = False) -> bool:
        """Always True."""
        return True


def register() -> None:
    """Registers the interface of ``npu`` and of each device."""
    add = partial(register_interface_for_device, device_interface=NpuInterface)
    add("npu")
    for index in range(torch.npu.device_count()):
        add(f"npu:{index}")
