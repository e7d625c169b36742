"""torch.npu.amp.GradScaler: a dynamic scale, a static one, its state."""

import pytest
import torch
from torch.npu.amp import GradScaler

CLASSES = ("torch.npu.amp.GradScaler", "torch.npu.amp.grad_scaler.GradScaler")


def api(*methods):
    names = [f"{cls}.{method}" if method else cls for cls in CLASSES for method in methods]
    return pytest.mark.api(*names)


def model():
    layer = torch.nn.Linear(2, 1, bias=False).npu()
    with torch.no_grad():
        layer.weight.fill_(1.0)
    return layer, torch.optim.SGD(layer.parameters(), lr=0.5)


def backward(scaler, layer, value=1.0):
    scaler.scale(layer(torch.full((1, 2), value, device="npu")).sum()).backward()


@api("", "scale", "step", "update")
def test_a_step_is_that_without_a_scale():
    layer, optimizer = model()
    scaler = GradScaler(init_scale=8.0)
    backward(scaler, layer)
    assert layer.weight.grad.tolist() == [[8.0, 8.0]]
    scaler.step(optimizer)
    assert layer.weight.tolist() == [[0.5, 0.5]]
    scaler.update()
    assert scaler.get_scale() == 8.0


@api("step", "update")
def test_an_overflow_skips_the_step_and_lowers_the_scale():
    layer, optimizer = model()
    scaler = GradScaler(init_scale=8.0, growth_interval=1)
    backward(scaler, layer, float("inf"))
    scaler.step(optimizer)
    scaler.update()
    assert layer.weight.tolist() == [[1.0, 1.0]]
    assert scaler.get_scale() == 4.0
    optimizer.zero_grad()
    backward(scaler, layer)
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 8.0


@api("unscale_")
def test_gradients_are_unscaled_once():
    layer, optimizer = model()
    scaler = GradScaler(init_scale=16.0)
    backward(scaler, layer)
    scaler.unscale_(optimizer)
    assert layer.weight.grad.tolist() == [[1.0, 1.0]]
    with pytest.raises(RuntimeError, match="has already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    assert layer.weight.tolist() == [[0.5, 0.5]]


@api("scale")
def test_lists_of_outputs_are_scaled():
    scaled = GradScaler(init_scale=4.0).scale([torch.ones(1).npu(), [torch.ones(2).npu()]])
    assert scaled[0].tolist() == [4.0]
    assert scaled[1][0].tolist() == [4.0, 4.0]


@api("", "step", "update")
def test_a_static_scale_stays_and_no_step_is_skipped():
    layer, optimizer = model()
    scaler = GradScaler(init_scale=8.0, growth_interval=1, dynamic=False)
    for _ in range(2):
        optimizer.zero_grad()
        backward(scaler, layer)
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() == 8.0
    assert layer.weight.tolist() == [[0.0, 0.0]]
    optimizer.zero_grad()
    backward(scaler, layer, float("inf"))
    scaler.step(optimizer)
    assert not torch.isfinite(layer.weight).any()
    scaler.update(2.0)
    assert scaler.get_scale() == 2.0


@api("update")
def test_a_new_scale_is_a_float_or_a_tensor():
    scaler = GradScaler()
    scaler.scale(torch.ones(1).npu())
    scaler.update(3.0)
    assert scaler.get_scale() == 3.0
    scaler.update(torch.npu.FloatTensor([5.0]))
    assert scaler.get_scale() == 5.0
    for wrong, error in (
        ("2", TypeError),
        (torch.ones(1), TypeError),
        (torch.ones(2).npu(), ValueError),
    ):
        with pytest.raises(error, match=r"1-element torch\.npu\.FloatTensor"):
            scaler.update(wrong)


@api("state_dict", "load_state_dict")
def test_the_state_is_restored():
    scaler = GradScaler(init_scale=32.0, growth_interval=7, dynamic=False)
    scaler.scale(torch.ones(1).npu())
    state = scaler.state_dict()
    assert (state["scale"], state["growth_interval"], state["dynamic"]) == (32.0, 7, False)
    other = GradScaler()
    other.load_state_dict(state)
    assert other.state_dict() == state
    del state["dynamic"]  # as PyTorch's own scaler writes it
    other.load_state_dict(state)
    assert other.state_dict()["dynamic"] is True
    with pytest.raises(RuntimeError, match="state dict is empty"):
        other.load_state_dict({})
    assert GradScaler(enabled=False).state_dict() == {}


@api("")
def test_factors_out_of_range_are_refused():
    with pytest.raises(ValueError, match=r"growth factor must be > 1\.0"):
        GradScaler(growth_factor=1.0)
    with pytest.raises(ValueError, match=r"backoff factor must be < 1\.0"):
        GradScaler(backoff_factor=1.0)


def test_a_scaler_that_is_not_enabled_passes_everything_on():
    layer, optimizer = model()
    scaler = GradScaler(enabled=False)
    backward(scaler, layer)
    assert scaler.step(optimizer) is None
    scaler.update()
    assert layer.weight.tolist() == [[0.5, 0.5]]
    assert scaler.is_enabled() is False


@api("get_npu_overflow_flag", "clear_npu_overflow_flag")
def test_there_is_no_flag_without_saturation():
    with pytest.raises(RuntimeError, match="npu_check_overflow"):
        GradScaler.get_npu_overflow_flag()
    with pytest.warns(UserWarning, match="useless"):
        GradScaler.clear_npu_overflow_flag()


@pytest.mark.api("torch.npu.amp.sharded_grad_scaler")
def test_the_sharded_scaler_is_pytorchs_on_npu():
    from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

    result = torch.npu.amp.sharded_grad_scaler._ShardedGradScaler(enabled=False)
    assert isinstance(result, ShardedGradScaler)
    assert result.is_enabled() is False
