"""The Python text that Inductor's wrappers contain for streams and devices of npu."""

from torch._inductor.codegen.common import DeviceOpOverrides


class NpuDeviceOpOverrides(DeviceOpOverrides):
    """Each method returns Python source text; ``device_idx`` is a device's index."""

    def import_get_raw_stream_as(self, name: str) -> str:
        """Text that defines ``name``, a function from a device's index to its current stream's id."""
        return f"from torch_npu._dynamo_interface import get_raw_stream as {name}"

    def set_device(self, device_idx: int) -> str:
        """Text that makes a device current."""
        return f"torch.npu.set_device({device_idx})"

    def synchronize(self) -> str:
        """Text that waits for the current device."""
        return "torch.npu.synchronize()"

    def device_guard(self, device_idx: int) -> str:
        """Text of a context manager in which a device is current."""
        return f"torch.npu.device({device_idx})"

    def current_stream(self) -> str:
        """Text of the current stream."""
        return "torch.npu.current_stream()"
