"""Kernels for npu: those of Inductor's C++ backend."""

from collections.abc import Sequence

from torch._inductor.codegen.cpp import CppScheduling

from torch_npu._core import state
from torch_npu._inductor.source import MARK


class Scheduling(CppScheduling):
    """Inductor's C++ scheduling, with kernels that are compiled for npu.

    Raises:
        RuntimeError: the host cannot read the device's memory (a real CANN).
    """

    def __init__(self, scheduler: object) -> None:
        """Takes Inductor's scheduler; None only to ask for features."""
        if scheduler is not None:
            state.native().check_kernels()
        super().__init__(scheduler)

    def define_kernel(
        self, src_code: str, nodes: Sequence[object], kernel_args: object = None
    ) -> str:
        """Marks the kernel's source, by which the wrapper knows whose kernel it is; returns its name."""
        return super().define_kernel(MARK + src_code, nodes, kernel_args)
