"""``set_operator_fallback("cpu")``: operators without a kernel of npu's own run on copies in host memory."""

import pytest
import torch


@pytest.fixture(autouse=True)
def copies():
    before = torch.npu.get_operator_fallback()
    torch.npu.set_operator_fallback("cpu")
    yield
    torch.npu.set_operator_fallback(before)


CASES = {
    "coo": lambda: torch.eye(3).to_sparse(),
    "csr": lambda: torch.eye(3).to_sparse_csr(),
    "bsr": lambda: torch.eye(4).to_sparse_bsr((2, 2)),
}


@pytest.mark.parametrize("name", CASES)
def test_sparse(name):
    cpu = CASES[name]()
    npu = cpu.npu()
    assert npu.layout == cpu.layout
    assert torch.equal(npu.cpu().to_dense(), cpu.to_dense())
    assert torch.equal(npu.to_dense().cpu(), cpu.to_dense())
    assert "npu:0" in str(npu)


def test_sparse_products():
    a, b = torch.randn(3, 3).relu(), torch.randn(3, 2)
    for sparse in (a.to_sparse(), a.to_sparse_csr()):
        torch.testing.assert_close((sparse.npu() @ b.npu()).cpu(), a @ b)


@pytest.mark.filterwarnings("ignore")
def test_quantized():
    x = torch.quantize_per_tensor(torch.arange(4.0), 0.5, 1, torch.qint8)
    assert torch.equal(x.npu().dequantize().cpu(), x.dequantize())
    assert torch.equal(x.npu().cpu().int_repr(), x.int_repr())


@pytest.mark.filterwarnings("ignore")
def test_nested():
    parts = [torch.randn(2), torch.randn(3)]
    npu = torch.nested.nested_tensor(parts).npu()
    for found, part in zip(npu.unbind(), parts, strict=True):
        assert torch.equal(found.cpu(), part)
