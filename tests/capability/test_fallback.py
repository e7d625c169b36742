"""``set_operator_fallback("cpu")``: operators without an npu kernel run on copies in host memory."""

import pytest
import torch

from torch_npu import accuracy

pytestmark = pytest.mark.usefixtures("host_copies")


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


def test_running_statistics_are_written():
    x = torch.randn(4, 3, 5)
    for update in (
        lambda x, mean, var: torch.batch_norm_update_stats(x, mean, var, 0.1),
        lambda x, mean, var: torch.native_batch_norm(x, None, None, mean, var, True, 0.1, 1e-5),
    ):
        for dtype in (torch.float32, torch.float64):
            cpu = [t.to(dtype) for t in (x, torch.zeros(3), torch.ones(3))]
            npu = [t.npu() for t in cpu]
            update(*cpu)
            update(*npu)
            for e, a in zip(cpu, npu, strict=True):
                torch.testing.assert_close(a.cpu(), e)


def test_arguments_of_two_devices_are_refused():
    npu, cpu = torch.ones(2, 3, dtype=torch.float64, device="npu"), torch.ones(2, 3).double()
    for call in (
        lambda: torch.special.i0e(npu, out=cpu),
        lambda: torch.hypot(npu, cpu),
        lambda: torch.block_diag(npu, cpu),
    ):
        with pytest.raises(RuntimeError, match="same device"):
            call()
    assert torch.hypot(npu, torch.tensor(1.0).double()).device == npu.device  # a number may come


def test_indices_may_be_on_the_host():
    x = torch.arange(6.0, device="npu").to(torch.complex64).conj()
    index = torch.tensor([4, 1])
    assert torch.equal(x[index].cpu(), x.cpu()[index])
    x.index_put_((index,), torch.tensor(7, dtype=x.dtype))
    assert x.tolist() == [0, 7, 2, 3, 7, 5]
    with pytest.raises(RuntimeError, match=r"same device|on the same"):
        x.cpu()[index.npu()]


def test_arguments_overlap_as_on_the_device():
    x = torch.arange(12.0, dtype=torch.float64, device="npu").view(3, 4)
    for call in (
        lambda: torch.special.i0e(x[:2], out=x[1:]),
        lambda: torch.special.i0e(x[0], out=x[0, :1].expand(4)),
    ):
        with pytest.raises(RuntimeError, match=r"single memory location|shares memory|overlap"):
            call()
    assert torch.equal(x.cpu(), torch.arange(12.0).double().view(3, 4))
    column = x.t()[1]
    torch.special.i0e(column, out=column)
    expected = torch.arange(12.0).double().view(3, 4)
    expected[:, 1] = torch.special.i0e(expected[:, 1])
    assert torch.equal(x.cpu(), expected)


def test_outputs_are_resized():
    x = torch.arange(12.0, dtype=torch.float64, device="npu").view(3, 4)
    square = x[:, :3] + torch.eye(3, device="npu")
    factors = torch.linalg.lu_factor(square, out=(x.new_empty(0), x.new_empty(0).int()))
    for actual, expected in zip(factors, torch.linalg.lu_factor(square.cpu()), strict=True):
        torch.testing.assert_close(actual.cpu(), expected)
    grown = torch.zeros(2, dtype=torch.float64, device="npu")
    torch.special.i0e(x, out=grown.resize_(0))
    accuracy.assert_close(grown.cpu(), torch.special.i0e(x.cpu()), equal_nan=False)


def test_random_numbers_are_the_devices():
    x = torch.ones(1000, dtype=torch.float64, device="npu")
    for draw in (
        lambda: x.clone().geometric_(0.3),
        lambda: torch.poisson(x),
        lambda: x.clone().cauchy_(),
    ):
        torch.manual_seed(3)
        host = torch.get_rng_state()
        first, second = draw(), draw()
        assert torch.equal(torch.get_rng_state(), host)
        assert not torch.equal(first, second)
        torch.manual_seed(3)
        assert torch.equal(draw(), first)
    generator = torch.Generator("npu").manual_seed(3)
    assert torch.equal(
        x.clone().geometric_(0.3, generator=generator),
        x.clone().geometric_(0.3, generator=torch.Generator("npu").manual_seed(3)),
    )


@pytest.mark.filterwarnings("ignore")
def test_nested():
    parts = [torch.randn(2), torch.randn(3)]
    npu = torch.nested.nested_tensor(parts).npu()
    for found, part in zip(npu.unbind(), parts, strict=True):
        assert torch.equal(found.cpu(), part)
