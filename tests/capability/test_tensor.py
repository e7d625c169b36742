import copy
import io

import pytest
import torch

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance


def test_views_share_memory():
    x = torch.arange(12.0, device="npu").view(3, 4)
    x.t()[1].fill_(-1)
    x[:, ::2].mul_(2)
    expected = torch.arange(12.0).view(3, 4)
    expected.t()[1].fill_(-1)
    expected[:, ::2].mul_(2)
    assert torch.equal(x.cpu(), expected)


def test_copies_of_every_layout():
    source = torch.randn(4, 5, 6)
    for view in (
        source,
        source.permute(2, 0, 1),
        source[:, 1:4],
        source.flip(0),
        source[0].expand(3, 5, 6),
    ):
        assert torch.equal(view.npu().cpu(), view)
        target = torch.zeros(view.shape).npu().transpose(0, 1)
        target.copy_(view.transpose(0, 1))
        assert torch.equal(target.cpu(), view.transpose(0, 1))


def test_lazy_bits():
    x = torch.randn(5, dtype=torch.complex64)
    y = x.npu()
    assert torch.equal((y.conj() + 1).cpu(), x.conj() + 1)
    assert torch.equal(y.conj().imag.cpu(), x.conj().imag)
    assert torch.equal(x.conj().npu().cpu(), x.conj())


def test_out_resizes():
    out = torch.empty(0, device="npu")
    torch.add(torch.ones(5, device="npu"), 1, out=out)
    assert out.tolist() == [2.0] * 5
    out.resize_(2, 3)
    assert out.shape == (2, 3)


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.int64, torch.bfloat16, torch.complex128, torch.bool]
)
def test_dtypes_stay_what_they_are(dtype):
    x = torch.ones(3, device="npu").to(dtype)
    assert x.dtype == dtype
    assert torch.equal(x.cpu(), torch.ones(3).to(dtype))


def test_save_and_load(tmp_path):
    x = torch.randn(3, 4, device="npu").t()
    file = tmp_path / "x.pt"
    torch.save({"x": x, "same": x[0]}, file)
    loaded = torch.load(file)
    assert loaded["x"].device.type == "npu"
    assert torch.equal(loaded["x"].cpu(), x.cpu())
    assert torch.load(file, map_location="cpu")["x"].device.type == "cpu"
    assert torch.load(io.BytesIO(file.read_bytes()), map_location="npu:0")["same"].is_npu


def test_corrupt_checkpoint(tmp_path):
    file = tmp_path / "x.pt"
    torch.save(torch.randn(1000, device="npu"), file)
    file.write_bytes(file.read_bytes()[:500])
    with pytest.raises(RuntimeError, match=r"PytorchStreamReader|central directory|corrupt"):
        torch.load(file)


def test_deepcopy_and_storage():
    x = torch.randn(4, device="npu", requires_grad=True)
    y = copy.deepcopy(x)
    assert torch.equal(x, y)
    assert x.data_ptr() != y.data_ptr()
    assert x.untyped_storage().is_npu


def test_autograd():
    x = torch.randn(3, 4, device="npu", requires_grad=True)
    torch.nn.functional.gelu(x).pow(2).sum().backward()
    z = x.detach().cpu().requires_grad_()
    torch.nn.functional.gelu(z).pow(2).sum().backward()
    torch.testing.assert_close(x.grad.cpu(), z.grad)


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
def test_recurrent(kind):
    torch.manual_seed(0)
    cpu = kind(3, 5, num_layers=2, bidirectional=True)
    npu = copy.deepcopy(cpu).npu()
    x = torch.randn(7, 2, 3)
    expected = cpu(x)[0]
    actual = npu(x.npu())[0]
    torch.testing.assert_close(actual.cpu(), expected)
    expected.square().sum().backward()
    actual.square().sum().backward()
    for e, a in zip(cpu.parameters(), npu.parameters(), strict=True):
        accuracy.assert_close(a.grad, e.grad, Tolerance(1e-4, 1e-5), equal_nan=False)


def test_convolution_with_gradients():
    cpu = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)
    npu = copy.deepcopy(cpu).npu()
    x = torch.randn(2, 3, 9, 9)
    expected, actual = cpu(x), npu(x.npu())
    torch.testing.assert_close(actual.cpu(), expected)
    expected.sum().backward()
    actual.sum().backward()
    torch.testing.assert_close(npu.weight.grad.cpu(), cpu.weight.grad)
