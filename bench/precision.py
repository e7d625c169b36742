"""What float32 products and convolutions lose: the largest error against float64, as a share of the result's deviation.

Columns: CPU eager, npu without and with the permission of HF32, and HF32 itself: both factors rounded to its 11 digits.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from permission import hf32
from torch import Tensor
from torch.nn import functional as F

HF32_DIGITS = 11
FLOAT_DIGITS = 24


@dataclass(frozen=True)
class Lost:
    """One work's errors."""

    work: str
    cpu: float
    exact: float
    allowed: float
    hf32: float


def rounded(x: Tensor) -> Tensor:
    """``x``, float32, to HF32's digits, ties to even."""
    low = 1 << (FLOAT_DIGITS - HF32_DIGITS)
    bits = x.view(torch.int32)
    return ((bits + (low // 2 - 1) + (bits // low) % 2) // low * low).view(torch.float32)


def _gradient(
    forward: Callable[..., Tensor],
    size: torch.Size,
    gradient: Tensor,
    given: Callable[[Tensor], tuple[Tensor, Tensor]],
) -> Tensor:
    """Of the operand of ``size`` that ``given`` adds the other one to."""
    operand = gradient.new_zeros(size, requires_grad=True)
    return torch.autograd.grad(forward(*given(operand)), operand, gradient)[0]


def _convolution(
    batch: int, read: int, result: int, size: int, kernel: int, stride: int = 1
) -> dict:
    image = torch.randn(batch, read, size, size)
    weight = torch.randn(result, read, kernel, kernel) / (read * kernel * kernel) ** 0.5
    options = {"stride": stride, "padding": kernel // 2}
    name = f"{kernel} x {kernel}, {read} -> {result} channels, {batch} x {size} x {size}"
    forward = lambda x, w: F.conv2d(x, w, **options)  # noqa: E731
    gradient = torch.randn_like(forward(image, weight))
    return {
        f"convolution {name}": (forward, (image, weight)),
        f"gradient of the image, {name}": (
            lambda g, w: _gradient(forward, image.shape, g, lambda x: (x, w)),
            (gradient, weight),
        ),
        f"gradient of the weight, {name}": (
            lambda x, g: _gradient(forward, weight.shape, g, lambda w: (x, w)),
            (image, gradient),
        ),
    }


def works() -> dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...]]]:
    """What is measured: a function of tensors, and the tensors."""
    torch.manual_seed(0)
    found = {}
    for m, k, n in [(1024, 1024, 1024), (128, 4096, 4096)]:
        found[f"product {m} x {k} x {n}"] = (torch.mm, (torch.randn(m, k), torch.randn(k, n)))
    found |= _convolution(8, 64, 64, 56, 3)
    found |= _convolution(8, 512, 512, 7, 3)
    found |= _convolution(1, 256, 256, 14, 3)
    found |= _convolution(8, 256, 64, 56, 1)
    found |= _convolution(8, 3, 64, 112, 7, 2)
    return found


def measure(work: str, run: Callable[..., Tensor], given: tuple[Tensor, ...]) -> Lost:
    """The errors of one of them."""
    expected = run(*(t.double() for t in given))
    deviation = expected.square().mean().sqrt()

    def lost(found: Tensor) -> float:
        return ((found.double() - expected).abs().max() / deviation).item()

    on_npu = [t.npu() for t in given]
    with hf32(convolutions=False):
        exact = lost(run(*on_npu).cpu())
    with hf32(convolutions=True, products=True):
        allowed = lost(run(*on_npu).cpu())
    of_hf32 = lost(run(*(rounded(t).double() for t in given)))
    return Lost(work, lost(run(*given)), exact, allowed, of_hf32)


def all_lost() -> Iterator[Lost]:
    """One after another."""
    for work, (run, given) in works().items():
        yield measure(work, run, given)
