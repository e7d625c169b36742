"""Scalars with tensors of two types are converted to the common type as on the CPU: in range, with all digits."""

import pytest
import torch

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance

INT32, UINT8 = torch.tensor(3, dtype=torch.int32), torch.ones(2, dtype=torch.uint8)
FLOAT32, FLOAT16 = torch.tensor(2.0), torch.ones(2, dtype=torch.float16)

CALLS = {
    "add": (torch.add, (INT32, UINT8), {"alpha": 300}),
    "sub": (torch.sub, (INT32, UINT8), {"alpha": 300}),
    "rsub": (torch.rsub, (INT32, UINT8), {"alpha": 300}),
    "addcmul": (torch.addcmul, (INT32, UINT8, UINT8), {"value": 300}),
    "threshold_backward": (torch.ops.aten.threshold_backward, (INT32, UINT8, -0.25), {}),
    "add of halves": (torch.add, (FLOAT32, FLOAT16), {"alpha": 1e6}),
}


def moved(args: tuple, device: str) -> tuple:
    return tuple(a.to(device) if isinstance(a, torch.Tensor) else a for a in args)


@pytest.mark.parametrize("name", CALLS)
def test_a_number_beyond_the_common_type_is_refused(name):
    function, args, kwargs = CALLS[name]
    with pytest.raises(RuntimeError) as cpu:
        function(*args, **kwargs)
    with pytest.raises(RuntimeError, match="without overflow") as npu:
        function(*moved(args, "npu"), **kwargs)
    assert str(npu.value).split("\n[ERROR]")[0] == str(cpu.value)


def test_a_number_within_the_common_type_is_taken():
    widened = torch.ones(2, dtype=torch.int32)
    expected = torch.add(widened, UINT8, alpha=300)
    assert torch.equal(torch.add(widened.npu(), UINT8.npu(), alpha=300).cpu(), expected)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.float64])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_beta_has_the_digits_of_the_common_type(dtype, reduction):
    x = torch.arange(6).to(dtype)
    y = torch.linspace(-1, 4, 6, dtype=torch.float64)

    def loss(device: str) -> torch.Tensor:
        a, b = x.to(device), y.to(device)
        return torch.nn.functional.smooth_l1_loss(a, b, reduction=reduction, beta=1.7).cpu()

    accuracy.assert_close(loss("npu"), loss("cpu"), Tolerance(1e-14), equal_nan=False)
