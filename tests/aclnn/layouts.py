"""Tensors of every dtype and memory layout for the operators' tests, and how results are compared."""

import zlib

import torch

FLOATING = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
COMPLEX = (torch.complex64, torch.complex128)
REAL = (*FLOATING, *INTEGERS, torch.bool)
ALL = (*REAL, *COMPLEX)
LAYOUTS = ("contiguous", "transposed", "strided")


def name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def generator(*key: object) -> torch.Generator:
    """The same numbers for the same key in every process."""
    return torch.Generator().manual_seed(zlib.crc32(repr(key).encode()))


def numbers(shape: tuple[int, ...], dtype: torch.dtype, *key: object) -> torch.Tensor:
    """Small whole numbers, which every dtype holds exactly; halves among them in the inexact ones."""
    drawn = torch.randint(-20, 20, shape, generator=generator(shape, name(dtype), *key))
    if dtype == torch.bool:
        return drawn > 0
    if dtype.is_complex:
        return torch.complex(
            drawn.double() / 2, drawn.double().flip(-1) if shape else drawn.double()
        ).to(dtype)
    if dtype.is_floating_point:
        return (drawn.double() / 2).to(dtype)
    return drawn.to(dtype) if dtype.is_signed else drawn.abs().to(dtype)


def laid_out(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    """A copy in another layout; ``strided`` has gaps and an offset."""
    if layout == "contiguous":
        return tensor.clone(memory_format=torch.contiguous_format)
    if layout == "transposed":
        order = list(reversed(range(tensor.dim())))
        return tensor.permute(order).clone(memory_format=torch.contiguous_format).permute(order)
    wide = torch.full([2 * size + 1 for size in tensor.shape], 77).to(tensor.dtype)
    if tensor.dim() == 0:
        wide = torch.full([3], 77).to(tensor.dtype)
        wide[1] = tensor
        return wide[1]
    view = wide[tuple(slice(1, None, 2) for _ in tensor.shape)]
    view.copy_(tensor)
    return view


def output(like: torch.Tensor, layout: str) -> torch.Tensor:
    """A result with other values than ``like``."""
    return laid_out(torch.full(like.shape, 99).to(like.dtype), layout)


def assert_same(got: torch.Tensor, expected: torch.Tensor) -> None:
    """Bit for bit but for the sign of zero; NaN is NaN."""
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    torch.testing.assert_close(got, expected, rtol=0, atol=0, equal_nan=True)


def assert_near(
    got: torch.Tensor, exact: torch.Tensor, magnitude: torch.Tensor, terms: int
) -> None:
    """``got`` against float64, within the error of a sum of ``terms`` whose absolute values add up to ``magnitude``."""
    dtype = got.dtype if got.dtype.is_floating_point or got.dtype.is_complex else torch.float64
    bound = torch.finfo(dtype).eps * (terms + 1) * magnitude.double()
    difference = (got.to(exact.dtype) - exact).abs()
    assert got.shape == exact.shape
    assert bool((difference <= bound).all()), (difference.max(), bound.min())
