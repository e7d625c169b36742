"""Copies that write parts of the same rows (roll, constant padding), and fills of every length."""

import pytest
import torch
import torch.nn.functional as F

DTYPES = (torch.uint8, torch.float16, torch.float32, torch.int64, torch.complex128)
SHAPES = ((5,), (3, 7), (64, 1021), (2, 3, 4, 5), (300, 2, 33))


def numbers(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.randint(0, 100, shape, generator=torch.Generator().manual_seed(0)).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_roll(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = numbers(shape, dtype)
    views = [x, x.flip(0), x.transpose(0, -1), x[..., ::2]]
    for view in views:
        on_npu = x.npu() if view is x else view.npu()
        for dim in range(view.dim()):
            for shift in (1, 3, -2):
                assert torch.equal(on_npu.roll(shift, dim).cpu(), view.roll(shift, dim))
        dims = tuple(range(view.dim()))
        assert torch.equal(
            on_npu.roll((2,) * len(dims), dims).cpu(), view.roll((2,) * len(dims), dims)
        )


def test_roll_of_strided_memory() -> None:
    x = numbers((40, 3, 50), torch.float32)
    npu = x.npu()
    for view in (lambda t: t.transpose(0, 1), lambda t: t[:, :, ::2], lambda t: t.permute(2, 0, 1)):
        for dim in range(3):
            assert torch.equal(view(npu).roll(3, dim).cpu(), view(x).roll(3, dim))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_constant_pad(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = numbers(shape, dtype)
    for pad in ((1, 1), (0, 3), (2, -1), (1, 1, 1, 1), (0, 1, -1, 2)):
        if len(pad) > 2 * x.dim():
            continue
        assert torch.equal(F.pad(x.npu(), pad, value=7).cpu(), F.pad(x, pad, value=7))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_fill(dtype: torch.dtype) -> None:
    """Every remainder of a vector, at every alignment of an element; the neighbours keep their values."""
    for count in (*range(1, 140), 1000, 70001):
        base = torch.zeros(count + 9, dtype=dtype).npu()
        expected = torch.zeros(count + 9, dtype=dtype)
        start = count % 5
        base[start : start + count].fill_(37)
        expected[start : start + count] = 37
        assert torch.equal(base.cpu(), expected)
