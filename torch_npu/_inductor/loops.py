"""Loops of npu's kernels are those of Inductor's C++ code generator."""

from torch._inductor.scheduler import BaseSchedulerNode


def keep_loops() -> None:
    """Torch 2.13's scheduler reorders and reindexes loops of all devices but the CPU, for code generators other than C++.

    Its question for the CPU gets the answer yes for npu, whose kernels have the same generator.
    """

    def is_cpu(self: BaseSchedulerNode) -> bool:
        device = self.get_device()
        return device is not None and device.type in ("cpu", "npu")

    BaseSchedulerNode.is_cpu = is_cpu
