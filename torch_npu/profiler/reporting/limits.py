"""What this machine's device reaches: the roofline's two limits."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from torch_npu import npu

_SIZE = 768
_ELEMENTS = 8 << 20
_ROUNDS = 5


@dataclass(frozen=True)
class Limits:
    """The fastest of several runs, in float32: a product of matrices, and a sum of two long vectors."""

    gflops: float
    gbytes: float


def measure() -> Limits:
    """Measures both; takes about half a second."""
    a = torch.ones(_SIZE, _SIZE, device="npu")
    x, y = (torch.ones(_ELEMENTS, device="npu") for _ in range(2))
    out = torch.empty_like(x)

    def fastest(work: Callable[[], object]) -> float:
        best = float("inf")
        for _ in range(_ROUNDS):
            npu.synchronize()
            started = time.perf_counter()
            work()
            npu.synchronize()
            best = min(best, time.perf_counter() - started)
        return best

    product = fastest(lambda: a @ a)
    addition = fastest(lambda: torch.add(x, y, out=out))
    return Limits(2 * _SIZE**3 / product / 1e9, 3 * 4 * _ELEMENTS / addition / 1e9)
