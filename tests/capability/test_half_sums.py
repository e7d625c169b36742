"""Sums and products of scattered halves are float32 and rounded once, as PyTorch's CPU has them."""

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
