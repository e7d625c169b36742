"""Functions that keep the sign of zero on the CPU keep it on npu."""

import pytest
import torch

FUNCTIONS = (
    torch.sin,
    torch.tan,
    torch.asin,
    torch.atan,
    torch.sinh,
    torch.tanh,
    torch.asinh,
    torch.atanh,
    torch.expm1,
    torch.log1p,
    torch.sqrt,
    torch.erf,
    torch.ceil,
    torch.floor,
    torch.round,
    torch.trunc,
)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_zero_keeps_its_sign(function, dtype):
    zeros = torch.tensor([-0.0, 0.0] * 20, dtype=dtype)  # more than a vector has
    on_cpu = function(zeros)
    assert on_cpu.signbit()[:2].tolist() == [True, False]
    on_npu = function(zeros.npu()).cpu()
    assert torch.equal(on_npu, on_cpu)
    assert torch.equal(on_npu.signbit(), on_cpu.signbit())
