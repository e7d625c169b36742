"""Sums and products of scattered half types are in float32 and rounded once, as on PyTorch's CPU."""

import pytest
import torch


def scattered(layout: str, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    x = torch.ones(3, 4, dtype=dtype)
    src = (1 + torch.randn(3, 200, generator=generator) / 30).to(dtype)
    index = torch.randint(0, 4, (3, 200), generator=generator)
    if layout == "transposed":
        return x.t().contiguous().t(), index.t().contiguous().t(), src.t().contiguous().t()
    return x, index, src


@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean"])
def test_scatter_reduce(reduce, include_self, dtype, layout):
    x, index, src = scattered(layout, dtype)
    exact = x.double().scatter_reduce(1, index, src.double(), reduce, include_self=include_self)
    actual = x.npu().scatter_reduce(1, index.npu(), src.npu(), reduce, include_self=include_self)
    assert torch.equal(actual.cpu(), exact.to(dtype))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_scatter_add_and_scatter_of_a_number(dtype):
    x, index, src = scattered("contiguous", dtype)
    exact = x.double().scatter_add(1, index, src.double()).to(dtype)
    assert torch.equal(x.npu().scatter_add(1, index.npu(), src.npu()).cpu(), exact)
    assert torch.equal(x.npu().scatter_add_(1, index.npu(), src.npu()).cpu(), exact)
    number = torch.tensor(1.01, dtype=dtype).expand(3, 200)
    exact = x.double().scatter_add(1, index, number.double()).to(dtype)
    actual = x.npu().scatter(1, index.npu(), 1.01, reduce="add")
    assert torch.equal(actual.cpu(), exact)


def test_elements_without_an_index_keep_their_bits():
    x = torch.randn(1000, generator=torch.Generator().manual_seed(0)).half()
    actual = x.npu().scatter_add(0, torch.tensor([7]).npu(), torch.tensor([0.5]).half().npu())
    expected = x.clone()
    expected[7] += 0.5
    assert torch.equal(actual.cpu(), expected)


@pytest.mark.parametrize("alpha", [1, -1.5])
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("shape", [(5,), (40, 3), (3, 700), (3, 40, 5), ()], ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_index_add(dtype, shape, dim, alpha):
    if dim == 1 and len(shape) < 2:
        dim = 0
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(shape, generator=generator).to(dtype)
    size = x.size(dim) if shape else 1
    index = torch.randint(0, size, (10 * size,) if shape else (1,), generator=generator)
    places = list(shape)
    if shape:
        places[dim] = len(index)
    source = torch.randn(places, generator=generator).to(dtype)
    exact = x.double().index_add(dim, index, source.double(), alpha=alpha)
    rounded_once = x.float().index_add(dim, index, source.float(), alpha=alpha).to(dtype)
    layouts = [(x, source)]
    if len(shape) > 1:
        layouts.append((x.mT.contiguous().mT, source.mT.contiguous().mT))
    for of, added in layouts:
        actual = of.npu().index_add(dim, index.npu(), added.npu(), alpha=alpha).cpu()
        # float32 sums in another order may round differently
        assert (actual.double() - exact).abs().max() <= (rounded_once.double() - exact).abs().max()
        in_place = of.npu().index_add_(dim, index.npu(), added.npu(), alpha=alpha)
        assert torch.equal(in_place.cpu(), actual)


def test_index_add_beside_other_elements():
    x = torch.randn(6, 8, generator=torch.Generator().manual_seed(0)).half()
    actual = x.npu()
    actual[:, ::2].index_add_(1, torch.tensor([3, 3]).npu(), torch.ones(6, 2).half().npu())
    expected = x.clone()
    expected[:, 6] = (x[:, 6].float() + 2).half()
    assert torch.equal(actual.cpu(), expected)


def test_index_add_of_empty_tensors():
    for shape, count in (((0, 3), 0), ((3, 0), 2), ((3, 4), 0)):
        x = torch.ones(shape).half().npu()
        index = torch.zeros(count, dtype=torch.int64).npu()
        out = x.index_add(0, index, torch.ones(count, *shape[1:]).half().npu())
        assert torch.equal(out, x)
    with pytest.raises(IndexError):
        x.index_add(0, torch.tensor([3]).npu(), torch.ones(1, 4).half().npu()).cpu()
