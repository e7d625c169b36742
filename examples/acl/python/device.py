"""What the programs here share: a device, blocks of its memory, and errors with their texts."""

from collections.abc import Iterator
from contextlib import contextmanager

import acl
import numpy as np

HUGE_FIRST = 0  # ACL_MEM_MALLOC_HUGE_FIRST
TO_DEVICE, TO_HOST = 1, 2  # ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST


class AclError(RuntimeError):
    """A call's code, and what the library says of it."""


def check(ret: int, what: str) -> None:
    """Raises AclError unless ``ret`` is 0."""
    if ret != 0:
        raise AclError(f"{what}: {ret}: {acl.get_recent_err_msg()}")


@contextmanager
def device(number: int = 0) -> Iterator[int]:
    """Sets up the device for this thread: yields a stream."""
    check(acl.init(), "acl.init")
    check(acl.rt.set_device(number), "acl.rt.set_device")
    stream, ret = acl.rt.create_stream()
    check(ret, "acl.rt.create_stream")
    try:
        yield stream
    finally:
        acl.rt.destroy_stream(stream)
        acl.rt.reset_device(number)
        acl.finalize()


class Buffer:
    """``size`` bytes of device memory and the data buffer that describes them."""

    def __init__(self, size: int) -> None:
        """Allocates the memory."""
        self.size = size
        self.address, ret = acl.rt.malloc(size, HUGE_FIRST)
        check(ret, "acl.rt.malloc")
        self.handle = acl.create_data_buffer(self.address, size)

    def write(self, array: np.ndarray) -> None:
        """Copies the array to the device."""
        pointer, array = acl.util.numpy_contiguous_to_ptr(array)
        check(
            acl.rt.memcpy(self.address, self.size, pointer, array.nbytes, TO_DEVICE),
            "acl.rt.memcpy",
        )

    def read(self, dtype: str, shape: list[int]) -> np.ndarray:
        """A copy on the host."""
        array = np.empty(shape, dtype)
        pointer = acl.util.numpy_to_ptr(array)
        check(
            acl.rt.memcpy(pointer, array.nbytes, self.address, array.nbytes, TO_HOST),
            "acl.rt.memcpy",
        )
        return array

    def free(self) -> None:
        """Ends both."""
        acl.destroy_data_buffer(self.handle)
        acl.rt.free(self.address)
