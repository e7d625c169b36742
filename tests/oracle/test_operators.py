"""The official torch_npu wheel on softnpu's operators: models run and train as on the CPU. Run by `./dev oracle`."""

import copy
from collections.abc import Callable

import pytest
import torch
from models import STEPS, Recurrent, Sequence, digits, resnet18, small_cnn, train
from torch import nn
from torch.nn import functional as F

import torch_npu  # noqa: F401  # the wheel under test


@pytest.fixture(scope="module", autouse=True)
def aclnn_route():
    """Operators are called by aclnn, not by type name."""
    torch.npu.set_compile_mode(jit_compile=False)


def test_arithmetic_and_printing():
    a, b = torch.randn(3, 4), torch.randn(3, 4)
    x, y = a.npu(), b.npu()
    assert torch.equal((x + y).cpu(), a + b)
    assert torch.equal((x * y - 2).cpu(), a * b - 2)
    assert torch.equal((x > y).cpu(), a > b)
    torch.testing.assert_close((x / y).exp().sum(1).cpu(), (a / b).exp().sum(1))
    assert "device='npu:0'" in repr(x)
    assert repr(x.cpu()) == repr(a)


def test_views_and_indices():
    a = torch.randn(5, 6)
    x = a.npu()
    assert torch.equal(x.t()[1:, ::2].contiguous().cpu(), a.t()[1:, ::2])
    assert torch.equal(torch.cat([x, x[:2]]).cpu(), torch.cat([a, a[:2]]))
    picked = torch.tensor([4, 0, 2])
    assert torch.equal(x[picked.npu()].cpu(), a[picked])
    assert torch.equal(x.sort(1).values.cpu(), a.sort(1).values)
    assert torch.equal(x.topk(3, 1).indices.cpu(), a.topk(3, 1).indices)


def test_resnet18_inference():
    torch.manual_seed(0)
    model = resnet18().eval()
    images = torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        expected = model(images)
        got = copy.deepcopy(model).npu()(images.npu()).cpu()
    # A chain of a few hundred products in float32; the results are of the order of 1.
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)


MODELS: dict[str, Callable[[], nn.Module]] = {
    "cnn": small_cnn,
    "transformer": Sequence,
    "lstm": Recurrent,
}


def inputs_of(name: str) -> tuple[torch.Tensor, torch.Tensor]:
    images, classes = digits(32)
    if name == "transformer":
        return (images[:, 0].flatten(1) * 30).long()[:, :12], classes
    return (images[:, 0] if name == "lstm" else images), classes


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "optimizer",
    [
        lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9),
        lambda p: torch.optim.AdamW(p, lr=0.01),
    ],
    ids=["sgd", "adamw"],
)
def test_the_loss_falls_as_on_the_cpu(name, optimizer):
    torch.manual_seed(0)
    model = MODELS[name]()
    inputs, classes = inputs_of(name)
    on_npu = train(copy.deepcopy(model).npu(), inputs.npu(), classes.npu(), optimizer)
    on_cpu = train(model, inputs, classes, optimizer)
    assert on_cpu[-1] < on_cpu[0]
    # Rounding errors of float32 grow from step to step.
    torch.testing.assert_close(torch.tensor(on_npu), torch.tensor(on_cpu), rtol=1e-3, atol=1e-4)


def test_mixed_precision_with_a_scaler():
    torch.manual_seed(0)
    model = small_cnn().npu()
    inputs, classes = (t.npu() for t in digits(32))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("npu")
    losses = []
    for _ in range(STEPS):
        with torch.autocast("npu", dtype=torch.float16):
            loss = F.cross_entropy(model(inputs), classes)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
