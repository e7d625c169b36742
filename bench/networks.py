"""Whole networks: npu against CPU eager."""

from collections.abc import Callable
from functools import partial

import torch
from interleave import Row
from ops import against_forbidden, both, rope, with_and_without
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import ResNetConfig, ResNetForImageClassification

WIDTH, LAYERS, HEADS, INNER, WORDS, LONGEST = 512, 8, 8, 1376, 32000, 256
DEPTH = WIDTH // HEADS
PROMPT, GENERATED = 128, 16


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        linear = partial(nn.Linear, bias=False)
        self.before, self.between = nn.RMSNorm(WIDTH, 1e-5), nn.RMSNorm(WIDTH, 1e-5)
        self.q, self.k, self.v, self.out = (linear(WIDTH, WIDTH) for _ in range(4))
        self.gate, self.up, self.down = (
            linear(WIDTH, INNER),
            linear(WIDTH, INNER),
            linear(INNER, WIDTH),
        )

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, past: Tensor, at: int) -> Tensor:
        """``past`` [2, batch, heads, longest, depth] is written from ``at`` on."""
        batch, steps, _ = x.shape
        y = self.before(x)
        q, k, v = (
            w(y).view(batch, steps, HEADS, DEPTH).transpose(1, 2) for w in (self.q, self.k, self.v)
        )
        end = at + steps
        past[0, :, :, at:end] = rope(k, cos, sin)
        past[1, :, :, at:end] = v
        seen = F.scaled_dot_product_attention(
            rope(q, cos, sin), past[0, :, :, :end], past[1, :, :, :end], is_causal=steps > 1
        )
        x = x + self.out(seen.transpose(1, 2).reshape(batch, steps, WIDTH))
        y = self.between(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """A Llama-like decoder with its cache of keys and values: 8 layers of 512, 57 M parameters."""

    def __init__(self) -> None:
        """Random weights."""
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(_Layer() for _ in range(LAYERS))
        self.norm, self.head = nn.RMSNorm(WIDTH, 1e-5), nn.Linear(WIDTH, WORDS, bias=False)
        angles = torch.arange(LONGEST)[:, None] / 10000 ** (torch.arange(0, DEPTH, 2) / DEPTH)
        self.register_buffer("cos", torch.cat((angles, angles), -1).cos())
        self.register_buffer("sin", torch.cat((angles, angles), -1).sin())
        self.register_buffer("past", torch.zeros(LAYERS, 2, 1, HEADS, LONGEST, DEPTH))

    def forward(self, tokens: Tensor, at: int) -> Tensor:
        """``tokens`` [1, steps] at position ``at``; logits of the last step."""
        x = self.words(tokens)
        end = at + tokens.shape[1]
        for layer, past in zip(self.layers, self.past, strict=True):
            x = layer(x, self.cos[at:end], self.sin[at:end], past, at)
        return self.head(self.norm(x[:, -1:]))


def prefill(device: str) -> Callable[[], object]:
    """The first token behind a prompt."""
    model, tokens = Decoder().to(device).eval(), torch.randint(WORDS, (1, PROMPT)).to(device)
    return torch.no_grad()(partial(model, tokens, 0))


def generate(model: Decoder, token: Tensor) -> Tensor:
    """GENERATED tokens one by one, from position PROMPT on; the last one's logits."""
    for at in range(PROMPT, PROMPT + GENERATED):
        logits = model(token, at)
    return logits


def decode(device: str) -> Callable[[], object]:
    """Some tokens behind one another."""
    model, token = Decoder().to(device).eval(), torch.randint(WORDS, (1, 1)).to(device)
    return torch.no_grad()(partial(generate, model, token))


def resnet(
    device: str,
    batch: int,
    trained: bool,
    memory_format: torch.memory_format = torch.contiguous_format,
) -> Callable[[], object]:
    """ResNet-50: logits of some images, or a step of SGD."""
    model = ResNetForImageClassification(ResNetConfig(num_labels=1000)).to(device)
    model = model.to(memory_format=memory_format)
    images = torch.randn(batch, 3, 224, 224).to(device).to(memory_format=memory_format)
    if not trained:
        model.eval()
        return torch.no_grad()(lambda: model(images).logits)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    targets = torch.arange(batch, device=device)

    def step() -> None:
        optimizer.zero_grad()
        F.cross_entropy(model(images).logits, targets).backward()
        optimizer.step()

    return step


def rows() -> list[Row]:
    """ResNet-50 and the decoder."""
    images = [
        both("ResNet-50, one image", partial(resnet, batch=1, trained=False), 2),
        both("ResNet-50, 8 images", partial(resnet, batch=8, trained=False), 1),
        both("ResNet-50, training step of 8", partial(resnet, batch=8, trained=True), 1),
    ]
    return [
        *(each for row in images for each in (*with_and_without(row), against_forbidden(row))),
        both(f"Llama-like, {PROMPT} tokens at once", prefill, 2),
        both(f"Llama-like, {GENERATED} tokens one by one", decode, 1),
    ]
