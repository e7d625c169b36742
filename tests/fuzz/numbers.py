"""Numbers at which implementations differ: rounding boundaries, ends of types, signed zeros, NaN and infinity."""

import math
import random

import torch

FLOATING = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
INTEGRAL = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
COMPLEX = (torch.complex64, torch.complex128)
DTYPES = (*FLOATING, *INTEGRAL, torch.bool, *COMPLEX)

# Scalars: between two float16 or bfloat16 numbers, not exact in float32, beyond the range of integers, at steps.
SCALARS = (
    0, 1, -1, 2, 3, -3, 7, 127, 128, 255, 256, -129, 2**31 - 1, 2**31, -(2**31), True, False,
    0.0, -0.0, 0.5, -0.5, 1.5, 2.5, 0.1, 0.7, 50.3, 1 / 3, 1e-3, -1e-3, 1e-8, 65504.0, 65520.0, 1e30, -1e30,
    float("inf"), float("-inf"), float("nan"),
)  # fmt: skip
# The scalars that do not make all results NaN or infinity.
PLAIN_SCALARS = tuple(s for s in SCALARS if math.isfinite(s) and abs(s) < 1e4)
# Sizes and attributes whose product or sum overflows a type or exceeds the memory.
EXTENTS = (
    0, -1, 2**31 - 1, 2**31, -(2**31), 2**32, 2**32 + 1, 2**62, -(2**62), 2**63 - 1, -(2**63),
)  # fmt: skip
FRACTIONS = (0.0, -0.5, 1e-3, 1e6, 1.0)


def scalar(choose: random.Random) -> int | float | bool:
    """A number for an attribute; rarely an extreme one."""
    if choose.random() < 0.2:
        return choose.choice(SCALARS)
    if choose.random() < 0.5:
        return choose.choice(PLAIN_SCALARS)
    return choose.uniform(-4, 4)


def of(
    t: torch.Tensor, choose: random.Random, generator: torch.Generator, *, extremes: bool
) -> torch.Tensor:
    """Numbers of the shape and dtype of ``t``; ``extremes``: also NaN, infinity and the largest numbers."""
    if t.dtype == torch.bool:
        return torch.randint(0, 2, t.shape, generator=generator).bool()
    if t.is_complex():
        real = t.new_empty(t.shape, dtype=t.dtype.to_real())
        parts = [floating(real, choose, generator, extremes=False) for _ in range(2)]
        return torch.complex(*parts)
    if t.is_floating_point():
        return floating(t, choose, generator, extremes=extremes)
    return integral(t, choose, generator)


def floating(
    t: torch.Tensor, choose: random.Random, generator: torch.Generator, *, extremes: bool
) -> torch.Tensor:
    """Numbers of the shape and dtype of ``t``, of one of several kinds; ``extremes``: also NaN, infinity and the
    largest."""
    kind = choose.randrange(7)
    shape, dtype = t.shape, t.dtype
    widened = torch.randn(shape, generator=generator, dtype=torch.float64)
    if kind == 1:  # ties in rounding
        return (torch.randint(-9, 10, shape, generator=generator) * 0.5).to(dtype)
    if kind == 2:  # between two numbers of a narrower type
        return (widened * (1 + 2.0**-9)).to(torch.bfloat16).to(dtype) * (1 + 2.0**-8)
    if kind == 3:
        return (widened * 10.0 ** choose.randrange(-6, 4)).to(dtype)
    if kind == 4:
        return widened.abs().to(dtype)
    result = widened.to(dtype)
    if kind == 5 and result.numel():  # a few extremes among ordinary numbers
        ends = [0.0, -0.0, torch.finfo(dtype).tiny]
        if extremes:
            ends += [math.inf, -math.inf, math.nan, torch.finfo(dtype).max]
        flat = result.reshape(-1)
        for _ in range(choose.randrange(1, 4)):
            flat[choose.randrange(flat.numel())] = choose.choice(ends)
        return flat.reshape(shape)
    return result


def integral(t: torch.Tensor, choose: random.Random, generator: torch.Generator) -> torch.Tensor:
    """Integers of the shape and dtype of ``t``: small ones, or up to the limits of the type."""
    info = torch.iinfo(t.dtype)
    low, high = max(-9, info.min), 10
    if choose.random() < 0.2:
        low, high = info.min, info.max
    return torch.randint(low, high, t.shape, generator=generator, dtype=t.dtype)
