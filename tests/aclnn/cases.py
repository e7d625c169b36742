"""Test data for operators: data types, random numbers, and tensors in every memory layout."""

import zlib
from collections.abc import Callable

import torch

FLOATING = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)
COMPLEX = (torch.complex64, torch.complex128)
REAL = (*FLOATING, *INTEGERS, torch.bool)
ALL = (*REAL, *COMPLEX)

# The basic layouts of `laid_out`, and those of images.
LAYOUTS = ("contiguous", "transposed", "strided")
IMAGE_LAYOUTS = ("contiguous", "channels last", "strided")

Numbers = Callable[[tuple[int, ...], torch.dtype, torch.Generator], torch.Tensor]


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def seeded(*words: object) -> torch.Generator:
    """A generator with the same seed for the same words in every process."""
    return torch.Generator().manual_seed(zlib.crc32(repr(words).encode()))


def whole(shape: tuple[int, ...], dtype: torch.dtype, *key: object) -> torch.Tensor:
    """Small integers, which every dtype represents exactly; inexact dtypes also get halves."""
    drawn = torch.randint(-20, 20, shape, generator=seeded(shape, dtype_name(dtype), *key))
    if dtype == torch.bool:
        return drawn > 0
    if dtype.is_complex:
        imaginary = drawn.double().flip(-1) if shape else drawn.double()
        return torch.complex(drawn.double() / 2, imaginary).to(dtype)
    if dtype.is_floating_point:
        return (drawn.double() / 2).to(dtype)
    return drawn.to(dtype) if dtype.is_signed else drawn.abs().to(dtype)


def _digits(shape: tuple[int, ...], dtype: torch.dtype, numbers: torch.Generator) -> torch.Tensor:
    """For integral types between -9 and 9, or 0 and 9; for bool both values."""
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=numbers).bool()
    return torch.randint(-9 if dtype.is_signed else 0, 10, shape, generator=numbers).to(dtype)


def _widened(dtype: torch.dtype) -> torch.dtype | None:
    if dtype.is_complex:
        return torch.complex128
    return torch.float64 if dtype.is_floating_point else None


def normal(shape: tuple[int, ...], dtype: torch.dtype, numbers: torch.Generator) -> torch.Tensor:
    """Normal random numbers; digits for integral types."""
    widened = _widened(dtype)
    if widened is None:
        return _digits(shape, dtype, numbers)
    return torch.randn(shape, dtype=widened, generator=numbers).to(dtype)


def off_zero(shape: tuple[int, ...], dtype: torch.dtype, numbers: torch.Generator) -> torch.Tensor:
    """Numbers of magnitude 0.5 to 3; digits for integral types."""
    widened = _widened(dtype)
    if widened is None:
        return _digits(shape, dtype, numbers)
    values = torch.rand(shape, dtype=widened, generator=numbers) * 2.5 + 0.5
    return (values * (torch.randint(0, 2, shape, generator=numbers) * 2 - 1)).to(dtype)


def laid_out(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    """A copy in another layout. ``strided`` has gaps and an offset; ``swapped`` has its last two dimensions changed
    in memory, ``rotated`` its first and last one, ``channels last`` its second one at the end, where it has them."""
    dims = tensor.dim()
    order = list(range(dims))
    match layout:
        case "transposed":
            order.reverse()
        case "channels last" if dims >= 3:
            order.append(order.pop(1))
        case "swapped" if dims >= 2:
            order[-2:] = order[-1], order[-2]
        case "rotated" if dims >= 3:
            order[0], order[-1] = order[-1], order[0]
        case "strided":
            return _with_gaps(tensor)
    back = sorted(range(dims), key=order.__getitem__)
    return tensor.permute(order).clone(memory_format=torch.contiguous_format).permute(back)


def _with_gaps(tensor: torch.Tensor) -> torch.Tensor:
    sizes = tensor.shape or (1,)
    room = torch.full([2 * size + 1 for size in sizes], 77).to(tensor.dtype)
    view = room[tuple(slice(1, None, 2) for _ in sizes)]
    view = view if tensor.dim() else view[0]
    return view.copy_(tensor)


def unwritten(like: torch.Tensor, layout: str = "contiguous") -> torch.Tensor:
    """A result buffer with values different from ``like``."""
    return laid_out(torch.full(like.shape, 99).to(like.dtype), layout)


# Tensors by memory layout: each is made from a function that draws numbers of a shape.
SAMPLES: dict[str, Callable[[Callable[..., torch.Tensor]], torch.Tensor]] = {
    "contiguous": lambda draw: draw(3, 5, 70),
    "transposed": lambda draw: draw(6, 40, 3).permute(2, 0, 1),
    "strided": lambda draw: draw(4, 11, 37)[1:, 1::2, 2::3],
    "broadcast": lambda draw: draw(4, 1, 9).expand(4, 6, 9),
    "scalar": lambda draw: draw(),
    "nine": lambda draw: draw(2, 1, 3, 2, 1, 2, 2, 1, 3).permute(8, 1, 0, 3, 4, 2, 6, 7, 5),
    "empty": lambda draw: draw(0, 4),
    "long": lambda draw: draw(70001),
    "columns": lambda draw: draw(517, 600),
}
# Layouts of tensors with few elements.
SMALL = tuple(name for name in SAMPLES if name not in ("long", "columns"))
FILLED = tuple(name for name in SAMPLES if name != "empty")


def sample(
    layout: str, dtype: torch.dtype, generator: torch.Generator, numbers: Numbers = normal
) -> torch.Tensor:
    """A tensor of ``SAMPLES``."""
    return SAMPLES[layout](lambda *shape: numbers(shape, dtype, generator))
