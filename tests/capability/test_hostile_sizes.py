"""Sizes and attributes beyond any machine: the CPU's result or an error like the CPU's, never a crash.

The C ABI's own checks: softnpu/tests/sizes_test.cpp.
"""

import pytest
import torch
import torch.nn.functional as F


def image(device):
    return torch.arange(64.0, device=device).reshape(1, 1, 8, 8)


def expanded(size, device, dtype=torch.int8):
    return torch.ones(1, dtype=dtype, device=device).expand(size)


def overlapping(device):
    return torch.arange(8.0, device=device).as_strided((3, 2), (1, 1))


CALLS = {
    "unfold": lambda d: F.unfold(image(d), (1, 5), dilation=(1, 2**62)),
    "unfold beyond int": lambda d: F.unfold(image(d), (1, 5), dilation=(1, 2**31)),
    "fold": lambda d: F.fold(torch.ones(1, 5, 8, device=d), (1, 8), (1, 5), dilation=(1, 2**62)),
    "topk": lambda d: expanded(2**59, d).topk(1)[0],
    "median": lambda d: expanded(2**60, d).median(),
    "multinomial": lambda d: expanded(2**60, d, torch.float32).multinomial(1, True),
    "max_pool2d": lambda d: F.max_pool2d(image(d), 2**33),
    "avg_pool2d": lambda d: F.avg_pool2d(image(d).long(), 2**33, 1, 2**32),
    "conv2d": lambda d: F.conv2d(
        image(d), torch.ones(1, 1, 3, 3, device=d), padding=2**62, dilation=2**62
    ),
    "conv_transpose2d": lambda d: F.conv_transpose2d(
        image(d), torch.ones(1, 1, 3, 3, device=d), stride=2**62
    ),
    "interpolate": lambda d: torch.ops.aten.upsample_bilinear2d(
        image(d), [3, 3], False, 1e30, 1e30
    ),
    "written twice": lambda d: overlapping(d).add_(torch.ones(3, 2, device=d)),
    "filled twice": lambda d: overlapping(d).fill_(7),
    "written in one place": lambda d: torch.ones(1, device=d).expand(4).add_(1),
    "matrices written twice": lambda d: torch.mm(
        torch.ones(3, 3, device=d), torch.ones(3, 2, device=d), out=overlapping(d)
    ),
}


def answer(call, device):
    """The result, or the error."""
    try:
        return call(device).cpu()
    except RuntimeError as error:
        return error


@pytest.mark.parametrize("name", CALLS)
def test_hostile_sizes(name):
    expected = answer(CALLS[name], "cpu")
    actual = answer(CALLS[name], "npu")
    if isinstance(expected, RuntimeError):
        assert isinstance(actual, RuntimeError), actual
    else:
        assert torch.equal(actual, expected)
    assert (torch.ones(3, device="npu") * 2).tolist() == [2, 2, 2]
