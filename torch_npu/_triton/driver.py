"""Triton's driver for npu. It is active where programs set ``TRITON_INTERPRET=1``."""

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

LANGUAGE = Path(__file__).parent / "language"
EXTRA = "triton.language.extra.cann"


def npu() -> Any:  # noqa: ANN401 (a module)
    """``torch.npu``, which Triton may import before torch_npu has defined it."""
    return torch.get_device_module("npu")


class ExtraFinder:
    """Finds ``triton.language.extra.cann``, the language's extension for npu, in this package.

    Triton's own packages ``cuda`` and ``hip`` are inside its folder; a backend of another distribution cannot add a
    folder there. A finder that comes first, as that of a Triton built for another compiler, wins.
    """

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The package's specification; None for any other name."""
        del path
        return PathFinder.find_spec(name, [str(LANGUAGE)], target) if name == EXTRA else None


if ExtraFinder not in sys.meta_path:
    sys.meta_path.append(ExtraFinder)


class DeviceProperties:
    """What kernels ask about the device before they choose a grid."""

    @staticmethod
    def get_device_properties(device: int) -> dict[str, int]:
        """The numbers of cores of ``device``, by the names of Triton for Ascend."""
        properties = npu().get_device_properties(device)
        return {
            "num_aicore": properties.cube_core_num,
            "num_vectorcore": properties.vector_core_num,
        }


class NpuDriver(DriverBase):
    """The driver of npu: launches are those of Triton's interpreter, which needs no binary.

    Triton chooses between its compiler and its interpreter when ``triton.jit`` decorates a kernel, by the environment
    variable ``TRITON_INTERPRET``.
    """

    def __init__(self) -> None:
        """The driver with the device's properties in ``utils``."""
        super().__init__()
        self.utils = DeviceProperties()

    @classmethod
    def is_active(cls) -> bool:
        """Whether kernels are interpreted and an npu is there."""
        return bool(knobs.runtime.interpret) and hasattr(torch, "npu") and npu().is_available()

    def map_python_to_cpp_type(self, ty: str) -> str:
        """Raises NotImplementedError: no C++ code is written for a launch."""
        raise NotImplementedError(f"the interpreter launches kernels without a C++ type of {ty}")

    def get_current_target(self) -> GPUTarget:
        """The device as Triton names targets: its backend, the SoC, the threads of a warp."""
        return GPUTarget("npu", npu().get_device_name(), 1)

    def get_active_torch_device(self) -> torch.device:
        """The current device."""
        return torch.device("npu", npu().current_device())

    def get_current_device(self) -> int:
        """The current device's number."""
        return npu().current_device()

    def set_current_device(self, device: int) -> None:
        """Makes ``device`` the current one."""
        npu().set_device(device)

    def get_current_stream(self, device: int) -> int:
        """The address of the current stream of ``device``."""
        return npu().current_stream(device).npu_stream

    def get_device_interface(self) -> Any:  # noqa: ANN401 (a module)
        """``torch.npu``."""
        return npu()

    def get_benchmarker(self) -> Callable[..., Any]:
        """``triton.testing.do_bench``, with events of npu."""
        from triton.testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        """A buffer larger than the caches, which ``do_bench`` writes between two runs."""
        return torch.empty(64 << 20, dtype=torch.int8, device="npu")

    def clear_cache(self, cache: torch.Tensor) -> None:
        """Overwrites the buffer of ``get_empty_cache_for_benchmark``."""
        cache.zero_()
