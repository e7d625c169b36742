"""Logits and gradients of convolutional networks against float64, with and without HF32 allowed.

The functions are smooth: after a ReLU the gradient of an element near 0 would be one of two values.
"""

import copy

import pytest
import torch
from opinfo.permission import hf32
from torch import Tensor, nn
from torch.nn import functional as F

from tests.capability.test_less_precision import AMPLIFICATION

# Products in the longest sum. The CPU's kernels sum parts of it, with as many roundings as one part has; softnpu's
# sum in sequence.
TERMS = 128 * 9


class Residual(nn.Module):
    """Two 3x3 convolutions with batch norm, and a shortcut."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.SiLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x: Tensor) -> Tensor:
        return F.silu(x + self.body(x))


def residual_network() -> nn.Module:
    """Three stages of residual blocks, from 32 channels to 128, and a classifier."""
    layers: list[nn.Module] = [nn.Conv2d(3, 32, 7, 2, 3)]
    for read, result in ((32, 64), (64, 128)):
        layers += [Residual(read), nn.Conv2d(read, result, 3, 2, 1)]
    layers += [Residual(128), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10)]
    return nn.Sequential(*layers)


def plain_network() -> nn.Module:
    """A chain of convolutions, and back to the size of the image."""
    return nn.Sequential(
        nn.Conv2d(3, 64, 3, padding=1),
        nn.SiLU(),
        nn.Conv2d(64, 64, 3, padding=1),
        nn.SiLU(),
        nn.Conv2d(64, 96, 1),
        nn.Conv2d(96, 64, 3, stride=2, padding=1),
        nn.ConvTranspose2d(64, 32, 2, stride=2),
        nn.Conv2d(32, 32, 3, padding=1),
    )


NETWORKS = {"residual": residual_network, "plain": plain_network}


@pytest.fixture(params=[True, False], ids=["allowed", "forbidden"])
def allowed(request: pytest.FixtureRequest):
    with hf32(convolutions=request.param):
        yield request.param


def results(network: nn.Module, image: Tensor) -> list[Tensor]:
    """The output, and the gradients of the image and of each parameter, in double precision on the CPU."""
    network = copy.deepcopy(network).to(image.device, image.dtype)
    image = image.detach().requires_grad_()
    out = network(image)
    out.backward(torch.cos(out.detach()))
    tensors = [out.detach(), image.grad, *(p.grad for p in network.parameters())]
    return [t.cpu().double() for t in tensors]


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=str)
@pytest.mark.parametrize("training", [True, False], ids=["training", "eval"])
@pytest.mark.parametrize("name", NETWORKS)
def test_network_errors_are_within_the_bound_of_their_convolutions(
    name: str, training: bool, layout: torch.memory_format, allowed: bool
):
    """The error may be the CPU's error times the number of roundings in Winograd's transforms.

    Without HF32 allowed it may be that of a sequential sum: a random walk with as many roundings, whose steps grow.
    """
    torch.manual_seed(0)
    network = NETWORKS[name]().train(training).to(memory_format=layout)
    image = torch.randn(4, 3, 64, 48).contiguous(memory_format=layout)
    exact = results(network, image.double())
    cpu = results(network, image)
    npu = results(network, image.npu())
    factor = AMPLIFICATION if allowed else (TERMS / 2) ** 0.5
    for e, c, n in zip(exact, cpu, npu, strict=True):
        own = (c - e).square().mean().sqrt().maximum(2**-24 * e.square().mean().sqrt())
        assert (n - e).square().mean().sqrt() <= factor * own
