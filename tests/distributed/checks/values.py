"""Values that each rank can make for every other."""

import torch
import torch.distributed as dist

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

FLOATING = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
COMPLEX = (torch.complex64, torch.complex128)
MOVED = (*FLOATING, *INTEGERS, *COMPLEX, torch.bool, torch.float8_e4m3fn)


def value(rank: int, dtype: torch.dtype, shape: tuple[int, ...] = (3, 5)) -> torch.Tensor:
    """On the CPU; other values on each rank, whose sums are exact in every dtype."""
    generator = torch.Generator().manual_seed(rank)
    numbers = torch.randint(0, 4, shape, generator=generator)
    if dtype.is_complex:
        return torch.complex(numbers.double(), numbers.double() + rank).to(dtype)
    return numbers.bool() if dtype is torch.bool else numbers.to(dtype)


def values(dtype: torch.dtype, shape: tuple[int, ...] = (3, 5)) -> list[torch.Tensor]:
    """Those of all ranks."""
    return [value(rank, dtype, shape) for rank in range(dist.get_world_size())]


def same(actual: torch.Tensor, expected: torch.Tensor, what: object = "") -> None:
    """Every number and the dtype are equal."""
    assert actual.device.type == "npu", what
    accuracy.assert_close(actual, expected, Tolerance(), equal_nan=False, message=what)
