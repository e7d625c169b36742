"""npu refuses the arguments that the CPU refuses, with the CPU's error text."""

import re
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F


def _integers(device: str, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.tensor([0, 1, 7], dtype=dtype, device=device)


CASES: dict[str, Callable[[str], object]] = {
    "floor_divide": lambda d: _integers(d) // 0,
    "floor_divide_": lambda d: _integers(d).floor_divide_(0),
    "remainder": lambda d: _integers(d) % 0,
    "fmod": lambda d: torch.fmod(_integers(d), 0),
    "div-trunc": lambda d: torch.div(_integers(d, torch.int8), 0, rounding_mode="trunc"),
    "div-floor": lambda d: torch.div(_integers(d, torch.uint8), 256, rounding_mode="floor"),
    "remainder-bool": lambda d: torch.ones(3, dtype=torch.bool, device=d) % True,
    "pow-bool": lambda d: torch.pow(True, torch.ones(3, dtype=torch.bool, device=d)),
    "threshold-bool": lambda d: F.threshold(torch.ones(3, dtype=torch.bool, device=d), 1, 0),
    "roll": lambda d: torch.roll(torch.tensor(1.0, device=d), 1, 0),
    "pad": lambda d: F.pad(_integers(d, torch.uint8), (1, 1), value=300),
    "pad-without-elements": lambda d: F.pad(torch.empty(0, 3, device=d), (1, 1), value=1e39),
    "fill_-without-elements": lambda d: torch.empty(0, device=d).fill_(1e39),
    "softmax-two-types": lambda d: torch.ops.aten._softmax_backward_data(
        torch.ones(5, device=d), torch.ones(5, device=d, dtype=torch.bfloat16), 0, torch.float32
    ),
    "fill_": lambda d: _integers(d, torch.int8).fill_(300),
    "full": lambda d: torch.full((2,), 1e39, device=d),
    "masked_fill": lambda d: _integers(d, torch.int8).masked_fill(_integers(d) > 0, 300),
    "index_fill": lambda d: _integers(d, torch.int8).index_fill(0, _integers(d)[:1], 300),
    "add-alpha": lambda d: torch.add(_integers(d, torch.int8), _integers(d, torch.int8), alpha=300),
    "clamp": lambda d: _integers(d, torch.int8).clamp(max=300),
    "set_": lambda d: torch.empty(0, device=d).set_(
        torch.arange(6.0, device=d).untyped_storage(), 5, (2,), (-1,)
    ),
    "set_-offset": lambda d: torch.empty(0, device=d).set_(
        torch.arange(6.0, device=d).untyped_storage(), -1, (2,), (1,)
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    with pytest.raises((RuntimeError, IndexError)) as expected:
        CASES[name]("cpu")
    with pytest.raises(expected.type) as actual:
        CASES[name]("npu")
    # The CPU's error text, with the operator's name instead of the kernel's.
    message = str(actual.value).split("\n[ERROR]")[0].split("\n(aten::")[0]
    assert message == re.sub(r"\w+_cpu\w*", lambda m: m[0].split("_cpu")[0], str(expected.value))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32, torch.int64], ids=str)
def test_zeros_of_a_divisor_in_device_memory_give_zero(dtype: torch.dtype) -> None:
    """npu does not wait for the device to read them (docs/features.md)."""
    x = torch.tensor([7, 8, 9], dtype=dtype, device="npu")
    by = torch.tensor([2, 0, 4], dtype=dtype, device="npu")
    for call in (torch.floor_divide, torch.remainder, torch.fmod):
        expected = call(x.cpu(), torch.tensor([2, 1, 4], dtype=dtype))
        expected[1] = 0
        assert call(x, by).tolist() == expected.tolist()


def test_a_refused_set_leaves_the_tensor_as_it_was() -> None:
    x = torch.arange(6.0, device="npu")
    y = torch.ones(3, device="npu")
    with pytest.raises(RuntimeError):
        y.set_(x.untyped_storage(), 0, (2,), (-1,))
    assert y.shape == (3,)
