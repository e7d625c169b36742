"""Activations at arguments whose exponentials overflow or are subnormal."""

import decimal

import pytest
import torch


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("scale", [0.0, -0.0])
def test_zero_slope_times_infinite_exponential_is_nan(dtype, scale):
    grad, x = torch.ones(20, dtype=dtype), torch.full((20,), -30.0, dtype=dtype)
    for operands in ((grad, x), (grad[0], x[0])):
        expected, actual = (
            torch.ops.aten.elu_backward(g, 1.0, scale, -129, False, self)
            for g, self in (operands, [t.npu() for t in operands])
        )
        assert expected.isnan().all()
        assert actual.isnan().all()


@pytest.mark.parametrize("number", ["-39.5", "-40.25", "-300.5", "-709.5", "-716.25", "-740.0"])
def test_mish_has_all_digits(number):
    with decimal.localcontext() as context:
        context.prec = 60
        x = decimal.Decimal(number)
        n = x.exp() * (x.exp() + 2)
        exact = float(x * n / (n + 2))
    found = torch.nn.functional.mish(torch.tensor([float(number)], dtype=torch.float64).npu())
    error = abs(found.item() - exact)
    assert error <= max(4 * torch.finfo(torch.float64).eps * abs(exact), 5e-324)
