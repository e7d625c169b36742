"""Inputs of operator tests: the same numbers in every process, in the layouts that an operator may meet."""

import zlib

import torch

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
COMPLEX = (torch.complex64, torch.complex128)
LAYOUTS = ("contiguous", "transposed", "strided", "expanded", "scalar", "empty", "nine")


def generator(*names: object) -> torch.Generator:
    """Seeded by the names alone."""
    seed = zlib.crc32(" ".join(map(str, names)).encode())
    return torch.Generator().manual_seed(seed)


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def numbers(
    shape: tuple[int, ...], dtype: torch.dtype, numbers_of: torch.Generator
) -> torch.Tensor:
    """Between -3 and 3 without what is next to 0, integers between -9 and 9 (0 to 9)."""
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=numbers_of).bool()
    if not dtype.is_floating_point and not dtype.is_complex:
        least = 0 if dtype == torch.uint8 else -9
        return torch.randint(least, 10, shape, generator=numbers_of).to(dtype)
    wide = torch.complex128 if dtype.is_complex else torch.float64
    values = torch.rand(shape, dtype=wide, generator=numbers_of) * 2.5 + 0.5
    signs = torch.randint(0, 2, shape, generator=numbers_of) * 2 - 1
    return (values * signs).to(dtype)


def lay_out(layout: str, dtype: torch.dtype, numbers_of: torch.Generator) -> torch.Tensor:
    """A tensor of numbers that lies in memory as ``layout`` says."""
    match layout:
        case "contiguous":
            return numbers((3, 700), dtype, numbers_of)
        case "transposed":
            return numbers((33, 21), dtype, numbers_of).t()
        case "strided":
            return numbers((40, 30), dtype, numbers_of)[3:33:2, 1::3]
        case "expanded":
            return numbers((1, 17), dtype, numbers_of).expand(5, 17)
        case "scalar":
            return numbers((), dtype, numbers_of)
        case "empty":
            return numbers((0, 4), dtype, numbers_of)
        case "nine":
            return numbers((2, 1, 3, 2, 1, 2, 2, 1, 3), dtype, numbers_of).permute(
                8, 1, 0, 3, 4, 2, 6, 7, 5
            )
    raise KeyError(layout)


def written(layout: str, like: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A result of the shape of ``like``, in memory of its own with gaps where the layout has some."""
    if layout == "strided":
        return torch.full((like.shape[0], 2 * like.shape[1]), 7).to(dtype)[:, ::2]
    if layout == "transposed":
        return torch.full(tuple(reversed(like.shape)), 7).to(dtype).t()
    return torch.full(like.shape, 7).to(dtype)


def wide(value: object) -> object:
    """Floating-point tensors in float64, complex ones in complex128, anything else as it is."""
    if isinstance(value, torch.Tensor):
        if value.dtype.is_complex:
            return value.to(torch.complex128)
        return value.double() if value.dtype.is_floating_point else value
    if isinstance(value, (list, tuple)):
        return type(value)(map(wide, value))
    return value


def check(got: torch.Tensor, expected: torch.Tensor, factor: float = 4) -> None:
    """Integers are equal; else the error is below ``factor`` times the dtype's epsilon, of a value or of 1."""
    assert got.shape == expected.shape
    if not got.dtype.is_floating_point and not got.dtype.is_complex:
        assert torch.equal(got, expected.to(got.dtype))
        return
    tolerance = factor * torch.finfo(got.dtype).eps
    torch.testing.assert_close(
        wide(got), wide(expected), rtol=tolerance, atol=tolerance, equal_nan=True
    )
