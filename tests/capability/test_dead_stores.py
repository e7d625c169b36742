"""Dead-store elimination in fusion groups: every value that the program reads has the same bits as without fusion."""

import ctypes
import threading
from collections.abc import Callable

import gated
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from torch_npu import _load

SIZES = {"plain": torch.contiguous_format, "channels_last": torch.channels_last}


class Waiting(TorchDispatchMode):
    """Waits for the device after each operator, so that nothing is fused."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        torch.npu.synchronize()
        return result


def fused_tasks() -> int:
    """The number of tasks that ran fused with the preceding one."""
    count = ctypes.c_uint64()
    acl = ctypes.CDLL(_load.bound_library())
    assert acl.softnpuGetFusedTasks(0, ctypes.byref(count)) == 0
    return count.value


def behind_a_gate(work: Callable[[], object]) -> object:
    """Runs ``work()`` with all tasks queued before the first one runs."""
    torch.npu.synchronize()
    gate = threading.Event()
    gated.launch(torch.npu.current_stream(), gate.wait)
    result = work()
    gate.set()
    torch.npu.synchronize()
    return result


def check(work: Callable[[], object], least: int = 1) -> None:
    """``work()`` gives the same bits with and without fusion, and at least ``least`` tasks are fused."""
    torch.manual_seed(0)
    with Waiting():
        expected = work()
    torch.manual_seed(0)
    before = fused_tasks()
    found = behind_a_gate(work)
    assert fused_tasks() - before >= least
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


@pytest.fixture
def conv() -> nn.Module:
    return nn.Conv2d(16, 32, 3, padding=1).npu()


@pytest.fixture
def norm() -> nn.Module:
    return nn.BatchNorm2d(32).npu().eval()


@pytest.fixture
def x() -> Tensor:
    return torch.randn(2, 16, 40, 40, device="npu")


class Block(nn.Module):
    """Convolutions with batch norm and ReLU around a residual sum."""

    def __init__(self, channels: int, inner: int, stride: int, functional: bool) -> None:
        super().__init__()
        sizes = [(channels, inner, 1, 1), (inner, inner, 3, stride), (inner, channels, 1, 1)]
        self.convs = nn.ModuleList(
            nn.Conv2d(a, b, k, s, k // 2, bias=k == 3) for a, b, k, s in sizes
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(b) for _, b, _, _ in sizes)
        self.short = nn.Conv2d(channels, channels, 1, stride, bias=False)
        self.functional = functional
        for norm in self.norms:
            nn.init.uniform_(norm.running_mean)
            nn.init.uniform_(norm.running_var, 0.5, 2)

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for i, (conv, norm) in enumerate(zip(self.convs, self.norms, strict=True)):
            y = norm(conv(y))
            if i == 2:
                y = y + self.short(x) if self.functional else y.add_(self.short(x))
            y = F.relu(y, inplace=not self.functional)
        return y


@pytest.mark.parametrize("functional", [False, True])
@pytest.mark.parametrize("size", [(1, 64, 28), (4, 64, 28), (8, 32, 13), (3, 48, 17)])
@pytest.mark.parametrize("memory_format", SIZES)
def test_chains_of_convolutions(memory_format, size, functional):
    batch, channels, side = size
    torch.manual_seed(1)
    block = Block(channels, channels // 2, 2, functional).npu().eval()
    block = block.to(memory_format=SIZES[memory_format])
    x = torch.randn(batch, channels, side, side).npu().to(memory_format=SIZES[memory_format])
    with torch.no_grad():
        check(lambda: block(block(block(x))), 1)
    x = x.requires_grad_()
    block.train()

    def step() -> list[Tensor]:
        state = {k: v.clone() for k, v in block.state_dict().items()}
        y = block(x)
        grads = torch.autograd.grad(y.square().mean(), [x, *block.parameters()])
        block.load_state_dict(state)
        return [y.detach(), *grads]

    check(step)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("act", [F.gelu, F.relu, F.silu, torch.tanh])
def test_linear_layers(act, bias):
    first, second = nn.Linear(192, 512, bias).npu(), nn.Linear(512, 192, bias).npu()
    x = torch.randn(4, 100, 192, device="npu")
    with torch.no_grad():
        check(lambda: x + second(act(first(x))), 2)
        check(lambda: act(first(x[0]) * 2 + 1), 3)


def test_nan_and_infinity_pass_through(conv, norm, x):
    x[0, 3, 20, 20], x[1, 5, 3, 3], x[1, 6, 30, 30] = torch.nan, torch.inf, -torch.inf
    with torch.no_grad():
        check(lambda: torch.relu(norm(conv(x))), 2)
        assert torch.relu(norm(conv(x))).isnan().any()


def test_values_that_are_still_referenced_are_stored(conv, norm, x):

    def keep() -> tuple[Tensor, ...]:
        a = conv(x)
        b = norm(a)
        return a, b, torch.relu(b)

    def view() -> tuple[Tensor, ...]:
        a = conv(x)
        part = a[1, 3:5]
        b = torch.relu(norm(a))
        del a
        return part, b

    def read_later() -> tuple[Tensor, ...]:
        a = conv(x)
        b = torch.relu(norm(a))
        total = a.sum((0, 2, 3))
        del a
        return total, b, torch.relu(b - 1)

    def copied() -> tuple[Tensor, ...]:
        a = conv(x)
        b = norm(a)
        host = torch.empty(a.shape, pin_memory=True)
        host.copy_(a, non_blocking=True)
        del a
        return host, torch.relu(b)

    for work in (keep, view, read_later, copied):
        with torch.no_grad():
            check(work, 0)


@pytest.mark.parametrize("recorded", [False, True])
def test_value_is_stored_for_a_stream_that_waits_for_it(recorded, conv, norm, x):
    side = torch.npu.Stream()

    def work() -> tuple[Tensor, ...]:
        a = conv(x)
        b = torch.relu(norm(a))
        side.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(side):
            c = a * 2
        if recorded:
            a.record_stream(side)
        else:
            torch.npu.current_stream().wait_stream(side)
        del a
        result = b, torch.relu(b - 1)
        torch.npu.current_stream().wait_stream(side)
        return *result, c

    with torch.no_grad():
        check(work, 0)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_levels_of_the_task_queue(level, conv, norm, x):
    before = torch.npu.get_task_queue_enable()

    def work() -> tuple[Tensor, ...]:
        a = conv(x)
        b = norm(a)
        c = a.neg()
        del a
        return torch.relu(b), c

    torch.npu.set_task_queue_enable(level)
    try:
        with torch.no_grad():
            check(work, 0)
    finally:
        torch.npu.set_task_queue_enable(before)
