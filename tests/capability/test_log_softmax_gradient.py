"""The gradient of log_softmax for inputs whose exponential overflows the type."""

import pytest
import torch

BACKWARD = torch.ops.aten._log_softmax_backward_data


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_exponentials_beyond_the_type_are_infinite(dtype):
    y = torch.tensor([[89.0, 710, 750, 1163, 1500, 2166, 3000, 1e5, 1e10, 1e30]] * 2).to(dtype)
    grad = torch.full_like(y, -0.8)
    for dim in (0, 1):
        expected = BACKWARD(grad, y, dim, dtype)
        actual = BACKWARD(grad.npu(), y.npu(), dim, dtype).cpu()
        assert torch.equal(actual.isinf(), expected.isinf())
        torch.testing.assert_close(actual, expected)
