"""Variances of equal float64 numbers are 0 for any count."""

import pytest
import torch


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("value", [0.1, -0.9984, 1e300, 1 / 3])
@pytest.mark.parametrize("count", [3, 125, 1000, 5000])
def test_equal_numbers_have_no_variance(count, value, dtype):
    x = torch.full((2, count), value, dtype=dtype, device="npu")
    assert torch.var(x, dim=1).abs().tolist() == [0, 0]
    assert torch.var_mean(x, dim=1)[1].tolist() == [value, value]
    assert torch.var(x, correction=2 * count + 5).isnan()


def test_means_of_infinities_stay():
    infinity = float("inf")
    x = torch.tensor([[infinity, 1.0, 2.0], [1.0, infinity, 2.0], [-infinity, infinity, 0.0]])
    variance, mean = torch.var_mean(x.double().npu(), dim=1)
    assert variance.isnan().all()
    assert mean[:2].tolist() == [infinity, infinity]
    assert mean[2].isnan()
