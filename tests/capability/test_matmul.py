"""Products of float32 matrices: asynchronous aclnn operators, against float64."""

import itertools

import pytest
import torch

from torch_npu import accuracy
from torch_npu.accuracy import Tolerance
from torch_npu.utils import explain


def bound(a, b):
    """The error bound in float32: a sum of k products in any order, k + 4 roundings of their magnitude."""
    k = a.size(-1)
    return (k + 4) * torch.finfo(torch.float32).eps * (a.double().abs() @ b.double().abs())


def layouts(*size):
    """The same matrix contiguous, transposed, sliced and with gaps."""
    dense = torch.randn(*size)
    widened = torch.randn(*size[:-1], 2 * size[-1])
    return [dense, dense.mT.contiguous().mT, widened[..., 1 : size[-1] + 1], widened[..., ::2]]


@pytest.mark.parametrize(
    "sizes", [((5, 7), (7, 3)), ((64, 300), (300, 200)), ((4, 9, 8), (4, 8, 6))]
)
def test_layouts(sizes):
    for a in layouts(*sizes[0]):
        for b in layouts(*sizes[1]):
            difference = ((a.npu() @ b.npu()).cpu().double() - a.double() @ b.double()).abs()
            assert bool((difference <= bound(a, b)).all())


def test_linear_with_gradients():
    layer = torch.nn.Linear(37, 11)
    x = torch.randn(5, 13, 37)
    on_npu = torch.nn.Linear(37, 11).npu()
    on_npu.load_state_dict(layer.state_dict())
    layer(x).square().sum().backward()
    on_npu(x.npu()).square().sum().backward()
    accuracy.assert_close(
        on_npu.weight.grad, layer.weight.grad, Tolerance(1e-4, 1e-4), equal_nan=False
    )
    accuracy.assert_close(on_npu.bias.grad, layer.bias.grad, Tolerance(1e-4, 1e-4), equal_nan=False)


def test_later_operators_read_the_result():
    a = torch.randn(400, 400)
    n = a.npu()
    for _ in range(20):
        product = n @ n
        doubled = product * 2  # the AI CPU waits for the stream
        product.zero_()
        assert torch.equal(doubled.cpu(), (n @ n).cpu() * 2)


def test_on_another_stream():
    a = torch.randn(300, 300, device="npu")
    stream = torch.npu.Stream()
    with torch.npu.stream(stream):
        product = a @ a
    torch.npu.current_stream().wait_stream(stream)
    accuracy.assert_close(product, (a @ a).cpu(), Tolerance(), equal_nan=False)


def test_out():
    a = torch.randn(8, 8, device="npu")
    out = torch.empty(0, device="npu")
    torch.mm(a, a, out=out)
    assert out.shape == (8, 8)
    with pytest.raises(RuntimeError, match="dtype"):
        torch.mm(a, a, out=torch.empty(8, 8, dtype=torch.float64, device="npu"))
    with pytest.raises(RuntimeError, match="at least two devices"):
        torch.mm(a, a, out=torch.empty(8, 8))


@pytest.mark.parametrize("name", ["addmm", "baddbmm"])
def test_in_place(name):
    size = (4, 6, 6) if name == "baddbmm" else (6, 6)
    self, a, b = (torch.randn(*size) for _ in range(3))
    n = self.npu()
    before = n.data_ptr()
    explanation = explain(getattr(n, name + "_"), a.npu(), b.npu(), beta=0.5, alpha=2)
    assert explanation.result is n
    assert n.data_ptr() == before
    (row,) = explanation.rows
    assert (row.operator, row.route, row.calls) == (f"aten::{name}_", "aclnn", 1)
    expected = 0.5 * self.double() + 2 * (a.double() @ b.double())
    assert bool(((n.cpu().double() - expected).abs() <= 4 * bound(a, b) + 1e-6).all())


def test_baddbmm_copies_nothing():
    a = torch.randn(4, 6, 6)
    for self in (torch.randn(4, 6, 6), torch.randn(6), torch.randn(4, 1, 6)):
        explanation = explain(torch.baddbmm, self.npu(), a.npu(), a.npu())
        assert explanation.routes() == {"aclnn": 1}
        torch.testing.assert_close(explanation.result.cpu(), torch.baddbmm(self, a, a))
    n = a.npu()
    for self, batch1, batch2, message in (
        (n, n[0], n, "batch1 must be a 3D tensor"),
        (n, n, n[0], "batch2 must be a 3D tensor"),
        (n, n, n[:, :3], r"batch2 tensor to be: \[4, 6\] but got: \[4, 3\]"),
        (n[:3], n, n, "cannot be expanded"),
    ):
        with pytest.raises(RuntimeError, match=message):
            torch.baddbmm(self, batch1, batch2)


def test_in_place_does_not_resize():
    row = torch.randn(1, 6, device="npu")
    a = torch.randn(6, 6, device="npu")
    with pytest.raises(RuntimeError, match="size"):
        row.addmm_(a, a)
    assert row.shape == (1, 6)


def test_outputs_that_overlap():
    a = torch.randn(6, 6, device="npu")
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.mm(a, a, out=torch.zeros(1, 6, device="npu").expand(6, 6))
    storage = torch.randn(48, device="npu")
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        torch.mm(storage[:36].view(6, 6), a, out=storage[6:42].view(6, 6))


def test_out_keeps_its_strides():
    a, b = torch.randn(4, 6), torch.randn(6, 5)
    out = torch.zeros(5, 4, device="npu").t()
    assert torch.mm(a.npu(), b.npu(), out=out) is out
    assert out.stride() == (1, 4)
    torch.testing.assert_close(out.cpu(), a @ b)


def test_lazy_bits_and_empty_matrices_take_the_ai_cpu():
    a = torch.randn(6, 6, dtype=torch.complex64)
    n = a.npu()
    assert torch.equal((n.conj() @ n).cpu(), a.conj() @ a)
    imaginary = a.conj().imag
    assert n.conj().imag.is_neg()
    torch.testing.assert_close((n.conj().imag @ n.real).cpu(), imaginary @ a.real)
    empty = torch.zeros(3, 0, device="npu")
    assert torch.equal((empty @ empty.t()).cpu(), torch.zeros(3, 3))
    assert explain(torch.mm, empty, empty.t()).calls("aclnn") == 0


def test_with_the_cpu_fallback():
    a = torch.randn(6, 6)
    whole = a.mul(4).long()
    torch.npu.set_operator_fallback("cpu")
    try:
        explanation = explain(torch.mm, whole.npu(), whole.npu())
        total = explain(torch.add, a.npu(), a.npu())
    finally:
        torch.npu.set_operator_fallback("npu")
    assert explanation.routes() == {"CPU fallback": 1}
    assert torch.equal(explanation.result.cpu(), whole @ whole)
    assert torch.equal(total.result.cpu(), a + a)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_floating_dtypes_run_by_aclnn(dtype):
    a = torch.randn(6, 6).to(dtype)
    explanation = explain(torch.mm, a.npu(), a.npu())
    assert explanation.routes() == {"aclnn": 1}
    torch.testing.assert_close(explanation.result.cpu(), a @ a)


def test_other_dtypes_take_the_ai_cpu(aicpu_route):
    for dtype in (torch.float64, torch.int64, torch.complex64):
        a = torch.randn(6, 6).mul(4).to(dtype)
        explanation = explain(torch.mm, a.npu(), a.npu())
        assert explanation.routes() == {"AI CPU": 1}
        assert torch.equal(explanation.result.cpu(), a @ a)


def test_bad_arguments():
    a = torch.randn(3, 4, device="npu")
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        a @ a
    with pytest.raises(RuntimeError, match="at least two devices"):
        torch.mm(a, torch.randn(4, 3))
    with pytest.raises(RuntimeError, match="dtype"):
        torch.mm(a, torch.randn(4, 3, device="npu", dtype=torch.float64))


# rows, depth, columns. For larger ones PyTorch's CPU multiplies bfloat16 matrices by oneDNN, which reads an
# uninitialised result.
ZERO_SIZES = [(3, 4, 5), (1, 1, 1), (1, 300, 1), (3, 0, 5), (0, 4, 5), (3, 4, 0)]
LARGE_ZERO_SIZES = [(64, 65, 66), (130, 7, 20)]
ZERO_OPERANDS = {
    "addmm": lambda m, k, n: [(m, n), (m, k), (k, n)],
    "addmv": lambda m, k, _: [(m,), (m, k), (k,)],
    "baddbmm": lambda m, k, n: [(2, m, n), (2, m, k), (2, k, n)],
    "addbmm": lambda m, k, n: [(m, n), (2, m, k), (2, k, n)],
    "addr": lambda m, _, n: [(m, n), (m,), (n,)],
    "add": lambda m, _, n: [(m, n), (m, n)],
}


def zero_sizes(dtype):
    """On CPUs with 16-bit products oneDNN computes the larger ones, and reads other factors than ATen."""
    onednn = torch.ops.mkldnn
    by_onednn = dtype == torch.bfloat16 or (
        dtype == torch.float16 and onednn._is_mkldnn_fp16_supported()
    )
    return ZERO_SIZES if by_onednn else ZERO_SIZES + LARGE_ZERO_SIZES


def forms(name, operands, factors):
    """The function, its out= form and its in-place form."""
    function = getattr(torch, name)
    yield function(*operands, **factors)
    out = torch.empty(0, dtype=operands[0].dtype, device=operands[0].device)
    yield function(*operands, **factors, out=out)
    yield getattr(operands[0].clone(), f"{name}_")(*operands[1:], **factors)


@pytest.mark.parametrize("name", ZERO_OPERANDS)
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.complex128]
)  # fmt: skip
def test_zero_factors_propagate_nan_as_on_the_cpu(name, dtype):
    pairs = [(0, 1), (1, 0), (0, 0), (0.0, 0.5), (2, -0.0)]
    for size, (beta, alpha) in itertools.product(zero_sizes(dtype), pairs):
        factors = {"alpha": alpha} if name == "add" else {"beta": beta, "alpha": alpha}
        shapes = ZERO_OPERANDS[name](*size)
        for wrong, value in itertools.product(range(len(shapes)), (float("nan"), float("inf"))):
            cpu = [torch.randn(shape).to(dtype) for shape in shapes]
            cpu[wrong].view(-1)[::2] = value
            npu = [t.npu() for t in cpu]
            for e, a in zip(forms(name, cpu, factors), forms(name, npu, factors), strict=True):
                for is_wrong in (torch.isnan, torch.isinf):  # values are tested elsewhere
                    assert torch.equal(is_wrong(a.cpu()), is_wrong(e)), (size, factors, wrong)
