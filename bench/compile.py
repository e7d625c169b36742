"""torch.compile on npu, by Inductor and by the graph engine: against npu eager and each other."""

import copy
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import torch
from interleave import Row
from networks import PROMPT, WORDS, Decoder
from torch import Tensor, nn
from torch.nn import functional as F

_WIDTH = 256
# Rows of the graph engine, against npu eager.
ENGINE = "npugraph_ex"


@dataclass(frozen=True)
class _Work:
    """A model or function with its inputs."""

    name: str
    function: Callable[..., Tensor]
    inputs: tuple[Tensor, ...]
    repeats: int
    is_trained: bool = False

    def on(self, device: str, backend: str | None) -> Callable[[], object]:
        """A call on a device; of a training, with the backward pass and an update."""
        function, inputs = self.function, tuple(x.to(device) for x in self.inputs)
        if isinstance(function, nn.Module):
            function = copy.deepcopy(function).to(device).train(self.is_trained)
        called = (
            torch.compile(function, backend=backend, fullgraph=True, dynamic=False)
            if backend
            else function
        )
        if not self.is_trained:
            return torch.no_grad()(partial(called, *inputs))
        assert isinstance(function, nn.Module)
        optimizer = torch.optim.SGD(function.parameters(), lr=1e-3)

        def step() -> None:
            optimizer.zero_grad()
            called(*inputs).square().mean().backward()
            optimizer.step()

        return step


class _Convolutions(nn.Module):
    """Two normalized convolutions with a connection around them."""

    def __init__(self, channels: int = 64) -> None:
        super().__init__()
        convolve = partial(nn.Conv2d, channels, channels, 3, padding=1, bias=False)
        self.first, self.second = convolve(), convolve()
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        """``x`` [batch, channels, height, width]; the same shape."""
        y = F.relu(self.norms[0](self.first(x)))
        return F.relu(self.norms[1](self.second(y)) + x)


def _pointwise(x: Tensor, y: Tensor) -> Tensor:
    return F.gelu(x) * torch.sigmoid(y) + (x - y).square()


def _normalized(x: Tensor) -> Tensor:
    centered = x - x.mean(-1, keepdim=True)
    return (centered * torch.rsqrt(centered.square().mean(-1, keepdim=True) + 1e-5)).softmax(-1)


def _encoder() -> nn.Module:
    return nn.TransformerEncoderLayer(_WIDTH, 4, 4 * _WIDTH, dropout=0.0, batch_first=True)


class _Prefill(Decoder):
    """The decoder without the position."""

    def forward(self, tokens: Tensor) -> Tensor:  # type: ignore[override]
        """``tokens`` [1, steps]; logits of the last step."""
        return super().forward(tokens, 0)


def _works() -> Iterable[_Work]:
    yield _Work(
        "pointwise, 4 MiB", _pointwise, (torch.randn(1024, 1024), torch.randn(1024, 1024)), 20
    )
    yield _Work("norm and softmax, 4 MiB", _normalized, (torch.randn(1024, 1024),), 20)
    yield _Work("encoder layer, 128 tokens", _encoder(), (torch.randn(1, 128, _WIDTH),), 20)
    yield _Work("convolution block, 56 x 56", _Convolutions(), (torch.randn(4, 64, 56, 56),), 5)
    yield _Work(f"Llama-like, {PROMPT} tokens", _Prefill(), (torch.randint(WORDS, (1, PROMPT)),), 2)
    yield _Work(
        "training: encoder layer", _encoder(), (torch.randn(4, 128, _WIDTH),), 5, is_trained=True
    )
    yield _Work(
        "training: convolution block",
        _Convolutions(),
        (torch.randn(4, 64, 56, 56),),
        3,
        is_trained=True,
    )


def rows() -> list[Row]:
    """Each work by Inductor against npu eager and Inductor's CPU device, inference by the graph engine against both."""
    found = []
    for work in _works():
        eager, ours = work.on("npu", None), work.on("npu", "inductor")
        pairs = [("npu eager", ours, eager), ("inductor on cpu", ours, work.on("cpu", "inductor"))]
        if not work.is_trained:
            engine = work.on("npu", "npugraph_ex")
            pairs.append((ENGINE, engine, eager))
            pairs.append((f"{ENGINE}, of inductor", engine, ours))
        found += [
            Row(work.name, one, other, work.repeats, against, is_separate=False)
            for against, one, other in pairs
        ]
    return sorted(found, key=lambda row: row.against, reverse=True)


def geometric_mean(ratios: list[float]) -> float:
    """Of positive numbers."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
