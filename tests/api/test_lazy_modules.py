"""Modules whose shapes the first input decides, on npu."""

import io

import pytest
import torch
from torch import nn

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: nn.LazyLinear(3), (2, 5)),
        (lambda: nn.LazyConv2d(4, 3), (2, 3, 8, 8)),
        (lambda: nn.LazyConvTranspose1d(4, 3), (2, 3, 8)),
        (lambda: nn.LazyBatchNorm2d(), (2, 3, 4, 4)),
    ],
)
@pytest.mark.parametrize("location", ["device", "npu", "to"])
def test_a_lazy_module_gets_its_shapes_on_npu(make, shape, location):
    if location == "device":
        with torch.device("npu"):
            module = make()
    else:
        module = make().npu() if location == "npu" else make().to("npu")
    x = torch.randn(shape).npu()
    out = module(x)
    assert out.device.type == "npu"
    assert all(p.device.type == "npu" for p in module.parameters())
    assert not any(isinstance(p, nn.UninitializedParameter) for p in module.parameters())
    out.sum().backward()
    assert all(p.grad is not None for p in module.parameters())
    other = make()
    other.load_state_dict(module.state_dict())
    accuracy.assert_close(other.npu()(x), out, Tolerance(1e-5, 1e-5), equal_nan=False)


def test_a_lazy_module_without_shapes_is_saved():
    buffer = io.BytesIO()
    torch.save(nn.LazyLinear(3).npu().state_dict(), buffer)
    module = nn.LazyLinear(3)
    module.load_state_dict(torch.load(io.BytesIO(buffer.getvalue()), weights_only=False))
    assert module.npu()(torch.ones(2, 4, device="npu")).shape == (2, 3)
