"""Tensors of every layout that operators are tested with, and what results may differ by."""

import zlib
from collections.abc import Callable

import torch

FLOATING = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
COMPLEX = (torch.complex64, torch.complex128)
INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)


def seeded(*words: object) -> torch.Generator:
    """A generator that is the same for the same words in every process."""
    return torch.Generator().manual_seed(zlib.crc32(repr(words).encode()))


def values(shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    """Random numbers of ``dtype``: normal ones, or integers near 0."""
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=generator).bool()
    if dtype.is_complex:
        return torch.randn(shape, dtype=torch.complex128, generator=generator).to(dtype)
    if dtype.is_floating_point:
        return torch.randn(shape, dtype=torch.float64, generator=generator).to(dtype)
    low = 0 if dtype == torch.uint8 else -9
    return torch.randint(low, 10, shape, generator=generator).to(dtype)


def _made(shape: tuple[int, ...]) -> Callable[[torch.dtype, torch.Generator], torch.Tensor]:
    return lambda dtype, generator: values(shape, dtype, generator)


LAYOUTS: dict[str, Callable[[torch.dtype, torch.Generator], torch.Tensor]] = {
    "contiguous": _made((3, 5, 70)),
    "transposed": lambda dtype, g: values((6, 40, 3), dtype, g).permute(2, 0, 1),
    "strided": lambda dtype, g: values((4, 11, 37), dtype, g)[1:, 1::2, 2::3],
    "broadcast": lambda dtype, g: values((4, 1, 9), dtype, g).expand(4, 6, 9),
    "scalar": _made(()),
    "long": _made((70001,)),
    "columns": _made((517, 600)),
    "nine": _made((2, 1, 3, 2, 1, 2, 3, 1, 2)),
}


def epsilon(dtype: torch.dtype) -> float:
    """Of a floating-point or complex type; 0 of an integer."""
    return torch.finfo(dtype).eps if dtype.is_floating_point or dtype.is_complex else 0.0


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """The same values in the widest type of their kind."""
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.double() if tensor.is_floating_point() else tensor


def assert_near(
    got: torch.Tensor, want: torch.Tensor, rtol: float, atol: float | torch.Tensor = 0
) -> None:
    """Integers and bool are equal; others within ``rtol`` of the result plus ``atol`` (a number or a tensor)."""
    assert got.shape == want.shape
    if not got.is_floating_point() and not got.is_complex():
        assert torch.equal(got, want.to(got.dtype))
        return
    want = want.to(got.dtype)  # rounded as the best result is: infinities compare equal
    got, want = wide(got), wide(want)
    same = (got == want) | ((got != got) & (want != want))
    bound = rtol * want.abs() + atol
    near = same | ((got - want).abs() <= bound)
    assert near.all(), f"off by {(got - want).abs()[~near].max()} at {int((~near).sum())} places"
