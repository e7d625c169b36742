"""Data types: their rounding steps, and the wider types that references are computed in."""

import torch

# Types that have a wider type to compute a reference in.
WIDER = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex32: torch.complex128,
    torch.complex64: torch.complex128,
}
WIDENED = (torch.float64, torch.complex128)
HALF = (torch.float16, torch.bfloat16)

# A function of one element may have an error of four units in the last place: PyTorch's vector library promises 3.5.
ULPS = 4
# Random roundings up and down are judged by this many of their standard deviations.
DEVIATIONS = 6


def is_inexact(dtype: torch.dtype) -> bool:
    """Whether the type is floating-point or complex."""
    return dtype.is_floating_point or dtype.is_complex


def epsilon(dtype: torch.dtype) -> float:
    """The epsilon of a floating-point or complex type; 0 for any other."""
    return torch.finfo(dtype).eps if is_inexact(dtype) else 0.0


def compute_epsilon(dtype: torch.dtype) -> float:
    """The epsilon of the type in which sums of ``dtype`` are computed: float32 for float16 and bfloat16."""
    return epsilon(torch.float32 if dtype in HALF else dtype)


def ulp(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The distance of ``dtype``'s numbers at each element's magnitude, at most doubled."""
    return x.abs().clamp(min=torch.finfo(dtype).tiny) * epsilon(dtype)


def half_of_digits(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The largest error that counts as rounding: half of the digits of an element, or of 1."""
    return epsilon(dtype) ** 0.5 * x.abs().clamp(min=1)


def widened(t: torch.Tensor) -> torch.Tensor:
    """The tensor in complex128 or float64."""
    return t.to(torch.complex128 if t.is_complex() else torch.float64)


def largest_finite(t: torch.Tensor) -> float:
    """The largest magnitude among a tensor's finite elements; 0 where it has none."""
    magnitudes = t.detach().to_dense().cpu().abs().double()
    return float(magnitudes.nan_to_num(0, 0, 0).max()) if t.numel() else 0.0
