"""Replays of captured graphs, and what they are compared with."""

from collections.abc import Callable

import torch
from interleave import Row
from torch import Tensor, nn
from torch.nn import functional as F

CHAIN = 1000
STEPS = 64  # positions in the static cache of keys and values


class _Layer(nn.Module):
    """A Llama-like layer that decodes one token with a cache of fixed size."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.depth = heads, width // heads
        self.before, self.between = nn.RMSNorm(width), nn.RMSNorm(width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(width, 3 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * width, width, bias=False)
        self.register_buffer("keys", torch.randn(1, heads, STEPS, self.depth))
        self.register_buffer("values", torch.randn(1, heads, STEPS, self.depth))

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        y = self.before(x)
        q, k, v = (
            w(y).view(1, 1, self.heads, self.depth).transpose(1, 2)
            for w in (self.q, self.k, self.v)
        )
        self.keys[:, :, -1:] = k * cos + k.roll(self.depth // 2, -1) * sin
        self.values[:, :, -1:] = v
        seen = F.scaled_dot_product_attention(
            q * cos + q.roll(self.depth // 2, -1) * sin, self.keys, self.values
        )
        x = x + self.out(seen.transpose(1, 2).reshape(1, 1, -1))
        y = self.between(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def _captured(work: Callable[[], object]) -> Callable[[], object]:
    with torch.npu.stream(torch.npu.Stream()):
        for _ in range(3):
            work()
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        work()
    return graph.replay


def _decoder(width: int, layers: int) -> tuple[nn.ModuleList, Callable[[], Tensor]]:
    model = nn.ModuleList(_Layer(width, 8) for _ in range(layers)).npu().eval()
    x = torch.randn(1, 1, width, device="npu")
    cos, sin = (torch.randn(width // 8, device="npu") for _ in range(2))

    @torch.no_grad()
    def step() -> Tensor:
        y = x
        for layer in model:
            y = layer(y, cos, sin)
        return y

    return model, step


def rows() -> list[Row]:
    """A chain of small additions; decode steps of two widths."""
    x = torch.ones(16, device="npu")

    def chain() -> Tensor:
        y = x
        for _ in range(CHAIN):
            y = y + x
        return y

    _, small = _decoder(64, 8)
    model, large = _decoder(512, 8)
    weights = torch.cat([p.detach().reshape(-1) for p in model.parameters()]).cpu()
    name = f"{weights.nbytes >> 20} MiB of weights"
    return [
        Row(
            f"replay: {CHAIN:,} additions of 16",
            _captured(chain),
            chain,
            5,
            "npu eager",
            is_separate=False,
        ),
        Row(
            "replay: decode step, 64 x 8",
            _captured(small),
            small,
            20,
            "npu eager",
            is_separate=False,
        ),
        Row(
            f"replay: decode step, 512 x 8, {name}",
            _captured(large),
            weights.sum,
            10,
            "sum of them",
            is_separate=False,
        ),
        Row(
            "replay: decode step, 512 x 8",
            _captured(large),
            large,
            10,
            "npu eager",
            is_separate=False,
        ),
    ]
