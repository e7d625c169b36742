"""logaddexp of complex numbers keeps the digits of small results and selects the CPU's branch."""

import pytest
import torch


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_small_results(dtype):
    x = torch.tensor([-15.035435677 + 0.342202932j, -9 - 2j, -30 + 1j], dtype=dtype)
    zero = torch.zeros_like(x)
    expected = torch.logaddexp(x.to(torch.complex128), zero.to(torch.complex128))
    for args in ((x, zero), (zero, x)):
        actual = torch.logaddexp(*(t.npu() for t in args)).cpu().to(torch.complex128)
        error = (actual.real - expected.real).abs() / expected.real.abs()
        assert error.max() < 8 * torch.finfo(dtype).eps


def test_equal_real_parts_use_the_first_operands_branch():
    x, y = torch.tensor([1.5 + 0.179409j]), torch.tensor([1.5 - 3.5j])
    for args in ((x, y), (y, x)):
        actual = torch.logaddexp(*(t.npu() for t in args)).cpu()
        torch.testing.assert_close(actual, torch.logaddexp(*args))
