"""Tests of several ranks."""

import functools
import unittest
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import distributed

Test = Callable[..., object]


class TestSkip(NamedTuple):
    """A process's exit code that means a skipped test, and the reason."""

    exit_code: int
    message: str


TestSkip.__test__ = False  # no test case

_TOO_FEW = 75
TEST_SKIPS = {
    "multi-npu": TestSkip(_TOO_FEW, "Multi-NPU condition not satisfied"),
    **{f"multi-npu-{n}": TestSkip(_TOO_FEW, f"Need at least {n} ASCEND devices") for n in range(1, 9)},
    "hccl": TestSkip(76, "c10d not compiled with HCCL support"),
    "known_issues": TestSkip(77, "Test skipped due to known issues"),
}  # fmt: skip


def skipIfUnsupportMultiNPU(npu_number_needed: int) -> Callable[[Test], Test]:
    """A decorator that skips a test where there are fewer devices."""

    def decorate(func: Test) -> Test:
        @functools.wraps(func)
        def test(*args: object, **kwargs: object) -> object:
            if not torch.npu.is_available() or torch.npu.device_count() < npu_number_needed:
                raise unittest.SkipTest(f"Multi-NPU {npu_number_needed} condition not satisfied")
            return func(*args, **kwargs)

        return test

    return decorate


def init_pg(
    backend: str = "hccl", world_size: int = 1, rank: int = 0, file_name: str = "file://"
) -> None:
    """Begins the default group of ``backend``, ``"hccl"`` or ``"gloo"``; with hccl the rank is the device.

    Args:
        backend: of the group.
        world_size: the number of ranks.
        rank: of this process.
        file_name: a path without ``file://``, where the ranks find each other.

    Raises:
        RuntimeError: another backend, or fewer devices than ranks.
    """
    if backend == "hccl" and torch.npu.device_count() < world_size:
        raise RuntimeError(f"{world_size} ranks need {world_size} npu devices")
    if backend not in ("hccl", "gloo"):
        raise RuntimeError(f"Backend {backend} not supported!")
    distributed.init_process_group(
        backend=backend, world_size=world_size, rank=rank, init_method=f"file://{file_name}"
    )
    if backend == "hccl":
        torch.npu.set_device(rank)


def with_comms(func: Test) -> Test:
    """Runs a test method in a group: hccl where each rank has a device, else gloo.

    Its class has ``world_size``, ``rank``, ``file_name`` and ``destroy_pg()``.
    """
    if func is None:
        raise RuntimeError("Test function is None.")

    @functools.wraps(func)
    def test(self: object, *args: object, **kwargs: object) -> None:
        has_devices = torch.npu.is_available() and torch.npu.device_count() >= self.world_size
        backend = "hccl" if has_devices else "gloo"
        init_pg(backend, self.world_size, self.rank, self.file_name)
        torch.npu.manual_seed(0)
        try:
            func(self, *args, **kwargs)
        finally:
            self.destroy_pg()

    return test
