"""The norm of a single number is its magnitude, for any order."""

import pytest
import torch

ORDERS = [0.001, 0.5, 2, 3, 200, -1, -200, float("inf"), float("-inf")]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("value", [1e-3, -3.0, 1e30, 0.0])
def test_norm(order, value):
    x = torch.full((4, 1), value, device="npu")
    expected = torch.full((4,), abs(value), dtype=torch.float32)
    assert torch.equal(torch.linalg.vector_norm(x, order, dim=1).cpu(), expected)
    one = x[0]
    assert torch.equal(torch._foreach_norm([one, one], order)[1].cpu(), expected[0])


def test_order_0_counts():
    x = torch.tensor([[0.0], [-3.0]], device="npu")
    assert torch.linalg.vector_norm(x, 0, dim=1).tolist() == [0.0, 1.0]
    assert torch._foreach_norm([x[1]], 0)[0].item() == 1.0


def test_double_squares_do_not_overflow():
    x = torch.tensor([[-1e200]], dtype=torch.float64, device="npu")
    assert torch.linalg.vector_norm(x, 2, dim=1).item() == 1e200
