"""The official torch_npu wheel with `set_compile_mode(jit_compile=True)`: it calls operators by type name.

Run by `./dev oracle`, in the wheel's own venv.
"""

import copy
import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial

import pytest
import torch
from models import Sequence, digits, small_cnn, train
from torch import Tensor, nn
from torch.nn import functional as F

import torch_npu  # noqa: F401  # the wheel under test


@pytest.fixture(scope="module", autouse=True)
def registry_route() -> Iterator[None]:
    """Operators are called by type name."""
    torch.npu.set_compile_mode(jit_compile=True)
    yield
    torch.npu.set_compile_mode(jit_compile=False)


class _CompileStatistics(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("compiled", "reused", "kept")]


def compiled() -> tuple[int, int]:
    """The number of operators compiled so far, and the number of calls that found a compiled one."""
    torch.npu.synchronize()
    statistics = _CompileStatistics()
    library = ctypes.CDLL("libacl_op_compiler.so")
    assert library.softnpuGetCompileStatistics(ctypes.byref(statistics)) == 0
    return statistics.compiled, statistics.reused


def same(function: Callable[..., Tensor], *inputs: Tensor) -> None:
    """`function` has the same result on the NPU as on the CPU, and the same gradients of floating-point inputs."""
    on_cpu = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    on_npu = [x.npu().requires_grad_(x.is_floating_point()) for x in inputs]
    expected, got = function(*on_cpu), function(*on_npu)
    torch.testing.assert_close(got.cpu(), expected, rtol=1e-4, atol=1e-5)
    if not expected.requires_grad:
        return
    torch.manual_seed(1)
    grad = torch.randn_like(expected)
    expected.backward(grad)
    got.backward(grad.npu())
    for a, b in zip(on_npu, on_cpu, strict=True):
        if b.grad is not None:
            assert a.grad is not None
            torch.testing.assert_close(a.grad.cpu(), b.grad, rtol=1e-4, atol=1e-4)


def randn(*sizes: int) -> Tensor:
    """Normal numbers that depend only on the sizes."""
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(sum(sizes)))


def test_copies():
    a = torch.arange(24, dtype=torch.float32).view(2, 3, 4)
    x = a.npu()
    assert torch.equal(x.clone().cpu(), a)
    assert torch.equal(x.to(torch.float16).cpu(), a.half())
    assert torch.equal(x.to(torch.int32).cpu(), a.int())
    assert torch.equal(x.transpose(0, 2).contiguous().cpu(), a.transpose(0, 2))
    assert torch.equal(x.permute(1, 2, 0).contiguous().cpu(), a.permute(1, 2, 0))
    assert torch.equal(x[1:, ::2, 1:3].contiguous().cpu(), a[1:, ::2, 1:3])
    assert torch.equal(x[:, 1].contiguous().cpu(), a[:, 1])
    assert torch.equal(x[:1].expand(3, 3, 4).contiguous().cpu(), a[:1].expand(3, 3, 4))
    y = torch.zeros(2, 3, 4).npu()
    y[:, 1:, ::2] = x[:, 1:, ::2]
    expected = torch.zeros(2, 3, 4)
    expected[:, 1:, ::2] = a[:, 1:, ::2]
    assert torch.equal(y.cpu(), expected)
    assert "device='npu:0'" in repr(x)


ARITHMETIC: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": lambda a, b: a + b,
    "add a number": lambda a, b: a + 2,
    "add scaled": lambda a, b: torch.add(a, b, alpha=0.5),
    "sub": lambda a, b: a - b,
    "sub from a number": lambda a, b: 1 - a,
    "mul": lambda a, b: a * b,
    "mul by a number": lambda a, b: a * -3.5,
    "div": lambda a, b: a / b,
    "div by a number": lambda a, b: a / 3,
    "broadcast": lambda a, b: a * b[:1],
    "pow": lambda a, b: a.abs() ** 1.5 + a**2,
    "exp and log": lambda a, b: (a.exp() + 1).log() + a.abs().log1p(),
    "sqrt": lambda a, b: (a.abs() + 0.1).sqrt() + (b.abs() + 0.1).rsqrt(),
    "clamp": lambda a, b: a.clamp(-0.5, 0.7) + b.clamp(min=0),
    "where": lambda a, b: torch.where(a > b, a, b),
    "masked_fill": lambda a, b: a.masked_fill(b > 0, 2.0),
    "maximum": lambda a, b: torch.maximum(a, b) - torch.minimum(a, b),
    "floor_divide": lambda a, b: (
        torch.floor_divide(a.detach(), 0.3) + torch.remainder(a.detach(), 0.7)
    ),
    "addcmul": lambda a, b: torch.addcmul(a, a, b, value=0.5),
    "addcdiv": lambda a, b: torch.addcdiv(a, b, b.abs() + 1, value=0.5),
    "lerp": lambda a, b: torch.lerp(a, b, 0.25),
    "compare": lambda a, b: ((a > b) & (a != 0) | (b <= 1)).float(),
}

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "silu": F.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "leaky_relu": F.leaky_relu,
    "elu": F.elu,
    "softplus": F.softplus,
    "hardswish": F.hardswish,
    "hardtanh": F.hardtanh,
    "mish": F.mish,
    "logsigmoid": F.logsigmoid,
    "softmax": lambda x: x.softmax(1),
    "softmax over the first dimension": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(-1),
}

SHAPES: dict[str, Callable[[Tensor], Tensor]] = {
    "sum": lambda x: x.sum(),
    "sum over a dimension": lambda x: x.sum(1, keepdim=True),
    "mean": lambda x: x.mean((0, 1)),
    "prod": lambda x: x.prod(1),
    "amax": lambda x: x.amax(1),
    "max": lambda x: x.max(1).values,
    "argmax": lambda x: x.argmax(1),
    "all and any": lambda x: (x > 0).any(1).float() + (x > 0).all(),
    "var": lambda x: x.var(1) + x.std(1),
    "norm": lambda x: x.norm() + x.norm(dim=1).sum(),
    "cumsum": lambda x: x.cumsum(1),
    "logsumexp": lambda x: x.logsumexp(1),
    "cat": lambda x: torch.cat([x, x[:1] * 2], 0),
    "stack": lambda x: torch.stack([x, x * 2], 1),
    "split": lambda x: x.split(2, 1)[0] + x.chunk(3, 1)[1],
    "flip": lambda x: x.flip(1),
    "roll": lambda x: x.roll(1, 1),
    "repeat": lambda x: x.repeat(2, 1),
    "tril": lambda x: x.tril() + x.triu(1),
    "pad": lambda x: F.pad(x, (1, 2, 0, 1), value=0.5),
    "sort": lambda x: x.sort(1, descending=True).values,
    "topk": lambda x: x.topk(2, 1).values,
    "index_select": lambda x: x.index_select(0, torch.tensor([1, 0, 1], device=x.device)),
    "gather": lambda x: x.gather(1, torch.tensor([[1], [0]], device=x.device)),
    "index": lambda x: x[torch.tensor([1, 1, 0], device=x.device)],
    "masked_select": lambda x: x[x > 0],
    "embedding": lambda x: F.embedding(torch.tensor([[1, 0], [0, 0]], device=x.device), x),
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(name):
    same(ARITHMETIC[name], randn(3, 6), randn(3, 6) + 0.25)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    same(ACTIVATIONS[name], randn(4, 6) * 2)


@pytest.mark.parametrize("name", SHAPES)
def test_reductions_and_shapes(name):
    same(SHAPES[name], randn(2, 6))


def test_matrix_products():
    same(torch.mm, randn(7, 5), randn(5, 3))
    same(lambda a, b: a @ b.t(), randn(7, 5), randn(3, 5))
    same(torch.bmm, randn(2, 7, 5), randn(2, 5, 3))
    same(torch.matmul, randn(2, 3, 7, 5), randn(5, 3))
    same(torch.addmm, randn(3), randn(7, 5), randn(5, 3))
    same(torch.baddbmm, randn(2, 7, 3), randn(2, 7, 5), randn(2, 5, 3))
    same(F.linear, randn(4, 7, 5), randn(3, 5), randn(3))


def test_convolutions_and_pooling():
    image = randn(2, 4, 9, 8)
    same(lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1), image, randn(6, 4, 3, 3), randn(6))
    same(lambda x, w: F.conv2d(x, w, groups=2, dilation=2), image, randn(6, 2, 3, 3))
    same(
        lambda x, w: F.conv_transpose2d(x, w, stride=2, output_padding=1), image, randn(4, 3, 3, 3)
    )
    same(lambda x: F.max_pool2d(x, 2), image)
    same(lambda x: F.max_pool2d(x, 3, 2, 1), image)
    same(lambda x: F.avg_pool2d(x, 3, 2, 1), image)
    same(lambda x: F.adaptive_avg_pool2d(x, 1), image)
    same(lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), image)
    same(lambda x: F.interpolate(x, size=(5, 11), mode="bilinear"), image)


def test_norms():
    same(lambda x, w, b: F.layer_norm(x, (6,), w, b), randn(4, 5, 6), randn(6), randn(6))
    same(lambda x: F.layer_norm(x, (5, 6)), randn(4, 5, 6))
    x, w, b = randn(4, 3, 5, 5), randn(3), randn(3)
    same(lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), x, w, b)
    mean, var = randn(3), randn(3).abs() + 0.5
    same(lambda x, w, b, m, v: F.batch_norm(x, m.detach(), v.detach(), w, b), x, w, b, mean, var)
    norms = nn.BatchNorm2d(3)
    on_npu = copy.deepcopy(norms).npu()
    for _ in range(3):
        torch.testing.assert_close(on_npu(x.npu()).cpu(), norms(x), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(on_npu.running_mean.cpu(), norms.running_mean)
    torch.testing.assert_close(on_npu.running_var.cpu(), norms.running_var)


def test_losses():
    x, y = randn(4, 5), randn(4, 5) + 1
    classes = torch.tensor([0, 4, 2, 2])
    for reduction in ("none", "mean", "sum"):
        same(lambda a, b, r=reduction: F.mse_loss(a, b.detach(), reduction=r), x, y)
        same(lambda a, b, r=reduction: F.l1_loss(a, b.detach(), reduction=r), x, y)
        same(lambda a, b, r=reduction: F.smooth_l1_loss(a, b.detach(), reduction=r), x, y)
        same(lambda a, c, r=reduction: F.cross_entropy(a, c, reduction=r), x, classes)
        targets = y.sigmoid()
        same(
            lambda a, t, r=reduction: F.binary_cross_entropy_with_logits(
                a, t.detach(), reduction=r
            ),
            x,
            targets,
        )


def test_random_numbers_and_constants():
    torch.manual_seed(0)
    x = torch.ones(4, 5000).npu().requires_grad_()
    y = F.dropout(x, 0.25)
    assert y.detach().cpu().unique().tolist() == [0, y.max().item()]
    assert abs(y.max().item() - 4 / 3) < 1e-6
    assert abs((y == 0).float().mean().item() - 0.25) < 0.02
    y.sum().backward()
    assert torch.equal(x.grad.cpu(), y.detach().cpu())
    normal, uniform = torch.randn(20000, device="npu").cpu(), torch.rand(20000, device="npu").cpu()
    assert abs(normal.mean().item()) < 0.03
    assert abs(normal.std().item() - 1) < 0.03
    assert abs(uniform.mean().item() - 0.5) < 0.02
    assert 0 <= uniform.min() <= uniform.max() < 1
    assert torch.equal(torch.arange(5, device="npu").cpu(), torch.arange(5))
    assert torch.equal(torch.full((3,), 2.5, device="npu").cpu(), torch.full((3,), 2.5))
    torch.testing.assert_close(torch.linspace(0, 1, 7).npu(), torch.linspace(0, 1, 7, device="npu"))
    classes = torch.tensor([1, 0, 3])
    assert torch.equal(F.one_hot(classes.npu(), 4).cpu(), F.one_hot(classes, 4))


MODELS: dict[str, Callable[[], nn.Module]] = {
    "mlp": lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)),
    "cnn": small_cnn,
    "transformer": Sequence,
}


sgd = partial(torch.optim.SGD, lr=0.05, momentum=0.9)


def inputs_of(name: str) -> tuple[Tensor, Tensor]:
    images, classes = digits(32)
    return (
        (images[:, 0].flatten(1) * 30).long()[:, :12] if name == "transformer" else images
    ), classes


@pytest.mark.parametrize("name", MODELS)
def test_the_loss_falls_as_on_the_cpu(name):
    torch.manual_seed(0)
    model = MODELS[name]()
    inputs, classes = inputs_of(name)
    on_npu = train(copy.deepcopy(model).npu(), inputs.npu(), classes.npu(), sgd)
    on_cpu = train(model, inputs, classes, sgd)
    assert on_cpu[-1] < on_cpu[0]
    # Rounding errors of float32 grow from step to step.
    torch.testing.assert_close(torch.tensor(on_npu), torch.tensor(on_cpu), rtol=1e-3, atol=1e-4)


def test_inference_of_a_cnn():
    torch.manual_seed(0)
    model = small_cnn().eval()
    images, _ = digits(8)
    with torch.no_grad():
        got = copy.deepcopy(model).npu()(images.npu()).cpu()
        torch.testing.assert_close(got, model(images), rtol=1e-4, atol=1e-5)


def test_a_second_call_meets_the_compiled_operator():
    a, b = randn(5, 7).npu(), randn(5, 7).npu()
    torch.mul(a, b)
    before = compiled()
    for _ in range(3):
        torch.mul(a, b)
    assert compiled() == (before[0], before[1] + 3)


def test_which_types_are_called():
    """Prints the operator types of a convolutional network's training; none of them is refused."""
    program = (
        "import os, torch, torch_npu, sys; sys.path.insert(0, sys.argv[1])\n"
        "from models import small_cnn, digits\n"
        "torch.npu.set_compile_mode(jit_compile=True)\n"
        "images, classes = (t.npu() for t in digits(8))\n"
        "loss = torch.nn.functional.cross_entropy(small_cnn().npu()(images), classes)\n"
        "loss.backward(); print(loss.item(), flush=True)\n"
        # The wheel's autograd threads may outlive the interpreter and then end the process with an error.
        "os._exit(0)\n"
    )
    log = {"ASCEND_SLOG_PRINT_TO_STDOUT": "1", "ASCEND_GLOBAL_LOG_LEVEL": "1"}
    result = subprocess.run(
        [sys.executable, "-P", "-c", program, os.path.dirname(__file__)],
        env=os.environ | log,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    found = re.findall(r"operator type (\w+) (compiled|refused)", result.stdout)
    refused = sorted({name for name, state in found if state == "refused"})
    types = sorted({name for name, state in found if state == "compiled"})
    print(f"{len(types)} operator types: {' '.join(types)}")
    assert not refused
    assert {"Conv2D", "MatMul", "ReluGrad"} <= set(types)
