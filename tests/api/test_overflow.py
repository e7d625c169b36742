"""Overflow: infinities by default, saturation and a flag by the variables."""

import math

import fresh
import pytest
import torch

SATURATION = {"INF_NAN_MODE_ENABLE": "0", "INF_NAN_MODE_FORCE_DISABLE": "1"}


@pytest.mark.api("torch.npu.utils.is_support_inf_nan", "torch.npu.utils.is_force_overflow_check")
def test_infinities_are_the_default():
    assert torch.npu.utils.is_support_inf_nan() is True
    assert torch.npu.utils.is_force_overflow_check() is False
    x = torch.tensor([12.0, -1.0], dtype=torch.float16, device="npu")
    assert torch.isinf(x.exp()[0])
    assert torch.isnan(x.sqrt()[1])


@pytest.mark.api(
    "torch.npu.get_npu_overflow_flag",
    "torch.npu.clear_npu_overflow_flag",
    "torch.npu.utils.get_npu_overflow_flag",
    "torch.npu.utils.clear_npu_overflow_flag",
)
@pytest.mark.parametrize("module", [torch.npu, torch.npu.utils])
def test_there_is_no_flag_by_default(module):
    with pytest.raises(RuntimeError, match="please use npu_check_overflow"):
        module.get_npu_overflow_flag()
    with pytest.warns(UserWarning, match="clear_npu_overflow_flag is useless"):
        module.clear_npu_overflow_flag()


@pytest.mark.api("torch.npu.utils.npu_check_overflow")
@pytest.mark.parametrize(
    ("value", "overflows"),
    [
        (1.0, False),
        (float("inf"), True),
        (float("nan"), True),
        ([1.0, 2.0], False),
        ([1.0, float("-inf")], True),
        ([3e38, 3e38], False),  # their sum overflows, they do not
    ],
)
def test_gradients_are_checked(value, overflows):
    grad = value if isinstance(value, float) else torch.tensor(value, device="npu")
    assert torch.npu.utils.npu_check_overflow(grad) is overflows


def test_other_types_are_refused():
    with pytest.raises(RuntimeError, match="takes a tensor or a float, but got str"):
        torch.npu.utils.npu_check_overflow("inf")


@pytest.mark.api(
    "torch.npu.get_npu_overflow_flag",
    "torch.npu.clear_npu_overflow_flag",
    "torch.npu.utils.npu_check_overflow",
)
def test_saturation_replaces_infinities_and_sets_the_flag():
    program = """
import torch
x = torch.tensor([12.0, -1.0, 2.0], dtype=torch.float16, device="npu")
print(torch.npu.utils.is_support_inf_nan(), torch.npu.get_npu_overflow_flag())
print(x.exp()[0].item(), x.sqrt()[1].item(), torch.npu.get_npu_overflow_flag())
torch.npu.clear_npu_overflow_flag()
print((x + 1).tolist(), torch.npu.get_npu_overflow_flag())
print(x.float().mul(1e5).half().tolist(), torch.npu.get_npu_overflow_flag())
print(torch.npu.utils.npu_check_overflow(x), torch.npu.get_npu_overflow_flag())
y = torch.full((2,), 300.0, dtype=torch.float16, device="npu").requires_grad_()
(y * 1.0).mul(1.0).backward(torch.full((2,), float("inf"), dtype=torch.float16, device="npu"))
print(y.grad.tolist(), torch.npu.get_npu_overflow_flag())
torch.npu.clear_npu_overflow_flag()
z = torch.full((2,), 300.0, device="npu")
z.half().mul_(300)
print(torch.npu.get_npu_overflow_flag())
torch.npu.clear_npu_overflow_flag()
mask = torch.zeros(2, device="npu").masked_fill(torch.tensor([True, False], device="npu"), float("-inf"))
print(mask.tolist(), torch.npu.get_npu_overflow_flag())
"""
    lines = fresh.output(program, **SATURATION).splitlines()
    assert lines == [
        "False False",
        "65504.0 0.0 True",
        "[13.0, 0.0, 3.0] False",
        "[65504.0, -65504.0, 65504.0] True",
        "True False",
        "[65504.0, 65504.0] True",
        "True",
        "[-inf, 0.0] False",
    ]


def test_the_flag_skips_a_step_of_the_scaler():
    program = """
import torch
layer = torch.nn.Linear(2, 1, bias=False).npu()
torch.nn.init.ones_(layer.weight)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
scaler = torch.npu.amp.GradScaler(init_scale=2.0)
for value in (3e38, 1.0):
    optimizer.zero_grad()
    x = torch.full((1, 2), value, device="npu")
    scaler.scale(layer(x).sum()).backward()
    print(torch.isfinite(layer.weight.grad).all().item(), scaler.get_npu_overflow_flag())
    scaler.step(optimizer)
    scaler.update()
    print(layer.weight.tolist(), scaler.get_scale())
torch.ones(1, device="npu").div(0)
print(scaler.get_npu_overflow_flag())
scaler.clear_npu_overflow_flag()
print(scaler.get_npu_overflow_flag())
"""
    lines = fresh.output(program, **SATURATION).splitlines()
    assert lines == [
        "True True",
        "[[1.0, 1.0]] 1.0",
        "True False",
        "[[0.5, 0.5]] 1.0",
        "True",
        "False",
    ]


def test_a_forced_check_sets_the_flag_and_keeps_infinities():
    program = """
import torch
print(torch.npu.utils.is_support_inf_nan(), torch.npu.utils.is_force_overflow_check())
print(torch.ones(1, device="npu").div(0).item(), torch.npu.get_npu_overflow_flag())
"""
    lines = fresh.output(program, FORCE_OVERFLOW_CHECK="1").splitlines()
    assert lines == ["True True", "inf True"]


def test_saturation_must_be_forced(monkeypatch):
    monkeypatch.setenv("INF_NAN_MODE_ENABLE", "0")
    with pytest.raises(RuntimeError, match="please export INF_NAN_MODE_FORCE_DISABLE=1"):
        torch.npu.utils.is_support_inf_nan()
    monkeypatch.setenv("INF_NAN_MODE_ENABLE", "yes")
    with pytest.raises(RuntimeError, match="INF_NAN_MODE_ENABLE should be 0 or 1"):
        torch.npu.utils.is_support_inf_nan()


@pytest.mark.api(
    "torch_npu.npu_alloc_float_status",
    "torch_npu.npu_get_float_status",
    "torch_npu.npu_clear_float_status",
)
def test_the_operators_read_and_clear_the_flag():
    program = """
import torch, torch_npu
status = torch_npu.npu_alloc_float_status(torch.zeros(8, device="npu"))
print(status.tolist())
x = torch.full((4,), 60000.0, dtype=torch.float16, device="npu")
print(torch_npu.npu_get_float_status(status).tolist()[0])
print((x * 2).tolist())
print(torch_npu.npu_get_float_status(status).tolist())
print(torch_npu.npu_clear_float_status(status).tolist())
print(torch_npu.npu_get_float_status(status).tolist()[0])
"""
    assert fresh.output(program, **SATURATION).splitlines() == [
        str([0.0] * 8),
        "0",
        str([65504.0] * 4),
        str([1, 0, 0, 0, 0, 0, 0, 0]),
        str([0] * 8),
        "0",
    ]


@pytest.mark.api("torch.npu.get_npu_overflow_flag", "torch.npu.utils.is_force_overflow_check")
@pytest.mark.parametrize("queue", ["0", "1"])
def test_the_flag_alone_keeps_infinities_on_any_thread_and_route(queue):
    program = """
import threading, torch
def overflow(compute):
    torch.npu.clear_npu_overflow_flag()
    results = []
    thread = threading.Thread(target=lambda: results.append(compute()))
    thread.start()
    thread.join()
    print(results[0].tolist(), torch.npu.get_npu_overflow_flag())
x = torch.full((2,), 3e38, device="npu")
overflow(lambda: x * 10)
overflow(lambda: torch.lgamma(x))  # by the CPU's kernel
overflow(lambda: x.clone())
print(torch.npu.utils.is_force_overflow_check())
"""
    lines = fresh.output(program, FORCE_OVERFLOW_CHECK="1", TASK_QUEUE_ENABLE=queue).splitlines()
    big = torch.full((2,), 3e38).tolist()
    assert lines == [f"{[math.inf] * 2} True", f"{[math.inf] * 2} True", f"{big} False", "True"]
