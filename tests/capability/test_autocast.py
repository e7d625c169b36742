"""Autocast and the gradient scaler on npu."""

import pytest
import torch

from torch_npu.utils import explain


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_casts_by_pytorchs_lists(dtype):
    a = torch.randn(4, 4, device="npu")
    with torch.autocast("npu", dtype=dtype):
        product = a @ a
        assert product.dtype == dtype
        assert torch.nn.functional.softmax(product, 0).dtype == torch.float32
        assert (product + a).dtype == torch.float32
        assert torch.cat([product, a]).dtype == torch.float32
        with torch.autocast("npu", enabled=False):
            assert (a @ a).dtype == torch.float32
    assert (a @ a).dtype == torch.float32


def test_the_unsafe_loss_is_refused():
    p = torch.rand(3, device="npu")
    with (
        torch.autocast("npu", dtype=torch.float16),
        pytest.raises(RuntimeError, match="unsafe to autocast"),
    ):
        torch.nn.functional.binary_cross_entropy(p, p)


def test_training_with_a_scaler():
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 1)
    ).npu()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("npu")
    x, y = torch.randn(64, 8, device="npu"), torch.randn(64, 1, device="npu")
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        with torch.autocast("npu", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < 0.7 * losses[0]


def test_an_overflow_skips_the_step():
    weight = torch.nn.Parameter(torch.ones(2, device="npu"))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler("npu", init_scale=4.0)
    scaler.scale((weight * float("inf")).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [1.0, 1.0]
    assert scaler.get_scale() == 2.0


def test_a_scaled_step_runs_only_on_the_device():
    layer = torch.nn.Linear(4, 4, device="npu")
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("npu", init_scale=4.0, growth_interval=1)
    x = torch.randn(8, 4, device="npu")

    def unscale():
        optimizer.zero_grad()
        scaler.scale(layer(x).square().mean()).backward()
        scaler.unscale_(optimizer)

    explanation = explain(unscale)
    assert explanation.calls(operator="aten::_amp_foreach_non_finite_check_and_unscale_") == 1
    assert explanation.calls("AI CPU") == explanation.synchronizations == 0
    scaler.step(optimizer)
    explanation = explain(scaler.update)
    assert explanation.calls("AI CPU") == 0
    assert scaler.get_scale() == 8.0
