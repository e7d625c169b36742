"""Quantized, nested and sparse tensors between npu and the CPU: copies, files, texts."""

import copy
import io
import pickle

import fresh
import pytest
import torch

PARTS = [torch.arange(6.0).reshape(2, 3), torch.arange(12.0).reshape(4, 3)]
DENSE = torch.tensor([[0.0, 1, 0, 2], [3, 0, 0, 4], [0, 0, 5, 0], [0, 0, 0, 6]])
FLOATS = torch.linspace(-3, 3, 12).reshape(4, 3)
INDICES = torch.tensor([[1, 0, 1], [2, 0, 2]])


def per_tensor(dtype):
    return torch.quantize_per_tensor(FLOATS, 0.05, 7, dtype)


def per_channel(dtype):
    scales = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
    return torch.quantize_per_channel(FLOATS, scales, torch.arange(4), 0, dtype)


QUANTIZED = {
    f"{make.__name__}-{dtype}".replace("torch.", ""): lambda make=make, dtype=dtype: make(dtype)
    for make in (per_tensor, per_channel)
    for dtype in (torch.qint8, torch.quint8, torch.qint32)
}
NESTED = {
    "jagged": lambda: torch.nested.nested_tensor(PARTS, layout=torch.jagged),
    "nested": lambda: torch.nested.nested_tensor(PARTS),
}
SPARSE = {
    "coo": lambda: DENSE.to_sparse(),
    "coo-uncoalesced": lambda: torch.sparse_coo_tensor(INDICES, torch.tensor([1.0, 2, 3]), (4, 4)),
    "csr": lambda: DENSE.to_sparse_csr(),
    "csc": lambda: DENSE.to_sparse_csc(),
    "bsr": lambda: DENSE.to_sparse_bsr((2, 2)),
    "bsc": lambda: DENSE.to_sparse_bsc((2, 2)),
}
ALL = {**QUANTIZED, **NESTED, **SPARSE}


def of_parts(layout, t):
    """The dense tensors in a sparse tensor."""
    if layout == torch.sparse_coo:
        return t._indices(), t._values()
    if layout in (torch.sparse_csr, torch.sparse_bsr):
        return t.crow_indices(), t.col_indices(), t.values()
    return t.ccol_indices(), t.row_indices(), t.values()


def assert_same(actual, expected):
    """Both are on the CPU, of the same kind and with the same bits."""
    assert (actual.device.type, expected.device.type) == ("cpu", "cpu")
    assert (actual.dtype, actual.layout) == (expected.dtype, expected.layout)
    if expected.is_nested:
        for a, e in zip(actual.unbind(), expected.unbind(), strict=True):
            assert torch.equal(a, e)
        return
    assert actual.shape == expected.shape
    if expected.is_quantized:
        assert actual.qscheme() == expected.qscheme()
        assert torch.equal(actual.int_repr(), expected.int_repr())
        assert torch.equal(actual.dequantize(), expected.dequantize())
        return
    for a, e in zip(
        of_parts(expected.layout, actual), of_parts(expected.layout, expected), strict=True
    ):
        assert torch.equal(a, e)
    if expected.layout == torch.sparse_coo:
        assert actual.is_coalesced() == expected.is_coalesced()


def on_npu(t):
    assert str(t.device) == "npu:0"
    return t


def through_file(t, **options):
    file = io.BytesIO()
    torch.save(t, file)
    file.seek(0)
    return torch.load(file, **options)


def copied_into_npu(t):
    """copy_ from the CPU over different values on npu."""
    target = t.npu()
    if not t.is_quantized:
        target.copy_((t * 0).npu())
    return target.copy_(t)


def copied_into_cpu(t):
    target = t.clone()
    if not t.is_quantized:
        target.copy_(t * 0)
    return target.copy_(t.npu())


WAYS = {
    "npu": lambda t: on_npu(t.npu()).cpu(),
    "to": lambda t: on_npu(t.to("npu:0")).to("cpu"),
    "to-non-blocking": lambda t: on_npu(t.to("npu", non_blocking=True)).cpu(),
    "to-same": lambda t: on_npu(t.npu().to("npu", copy=True)).cpu(),
    "clone": lambda t: on_npu(t.npu().clone()).cpu(),
    "detach": lambda t: on_npu(t.npu().detach()).cpu(),
    "copy-to-npu": lambda t: on_npu(copied_into_npu(t)).cpu(),
    "copy-to-cpu": copied_into_cpu,
    "copy-within": lambda t: on_npu(t.npu().copy_(t.npu())).cpu(),
    "file": lambda t: on_npu(through_file(t.npu())).cpu(),
    "file-to-cpu": lambda t: through_file(t.npu(), map_location="cpu"),
    "file-to-npu": lambda t: on_npu(through_file(t, map_location="npu:0")).cpu(),
    "pickle": lambda t: on_npu(pickle.loads(pickle.dumps(t.npu()))).cpu(),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ALL)
def test_every_copy_keeps_the_values(kind, way):
    original = ALL[kind]()
    assert_same(WAYS[way](original), ALL[kind]())


@pytest.mark.parametrize("kind", [k for k in ALL if k != "nested"])  # not on the CPU either
def test_deepcopy(kind):
    original = ALL[kind]().npu()
    clone = on_npu(copy.deepcopy(original))
    if kind == "jagged":  # torch cannot move a deepcopied one to any other device
        for a, e in zip(clone.unbind(), original.unbind(), strict=True):
            assert a.data_ptr() != e.data_ptr()
            assert torch.equal(a, e)
        return
    assert_same(clone.cpu(), ALL[kind]())


@pytest.mark.parametrize("kind", ALL)
def test_printed_text_equals_the_cpus(kind):
    def without(text, device):
        return "".join(text.split()).replace(f",device='{device}'", "")

    original = ALL[kind]()
    text = repr(original.npu())
    assert without(text, "npu:0") == without(repr(original), "cpu")
    if kind in QUANTIZED or kind.startswith("coo"):
        assert "device='npu:0'" in text


@pytest.mark.parametrize("kind", QUANTIZED)
def test_quantized_values(kind):
    original = QUANTIZED[kind]()
    moved = original.npu()
    assert torch.equal(moved, original.npu())
    assert not torch.equal(moved[:2], original.npu()[2:])
    assert torch.equal(moved.int_repr().cpu(), original.int_repr())
    assert torch.equal(moved.dequantize().cpu(), original.dequantize())
    if "per_tensor" in kind:
        assert (moved.q_scale(), moved.q_zero_point()) == (0.05, 7)
    else:
        assert moved.q_per_channel_axis() == 0
        assert torch.equal(moved.q_per_channel_scales().cpu(), original.q_per_channel_scales())
        zeros = original.q_per_channel_zero_points()
        assert torch.equal(moved.q_per_channel_zero_points().cpu(), zeros)


@pytest.mark.parametrize("kind", QUANTIZED)
@pytest.mark.parametrize("target", ["npu", "cpu"])
@pytest.mark.parametrize("source", ["npu", "cpu"])
def test_copy_quantizes_floats(kind, source, target):
    expected = QUANTIZED[kind]()
    actual = expected.to(target).clone()
    for q, where in ((expected, "cpu"), (actual, source)):
        q.copy_((FLOATS / 2).to(where))
    assert_same(actual.cpu(), expected)


def test_copy_takes_over_the_quantizer():
    source = torch.quantize_per_tensor(FLOATS, 0.3, 1, torch.qint8)
    for target in (per_tensor(torch.qint8).npu(), per_tensor(torch.qint8)):
        other = source if target.device.type == "npu" else source.npu()
        assert_same(target.copy_(other).cpu(), source)
        assert target.q_scale() == 0.3


def test_copies_that_the_cpu_refuses():
    quantized = per_tensor(torch.qint8).npu()
    with pytest.raises(RuntimeError, match="use dequantize"):
        torch.empty(4, 3).copy_(quantized)
    with pytest.raises(RuntimeError, match="same qscheme"):
        quantized.copy_(per_channel(torch.qint8))
    with pytest.raises(RuntimeError, match="cannot be copied to one of dtype"):
        quantized.copy_(per_tensor(torch.quint8))


def test_strided_view_of_quantized():
    original = per_tensor(torch.qint8)
    assert_same(original.npu().t().cpu(), original.t())
    assert_same(original.npu()[1:3].cpu(), original[1:3])
    assert_same(original.t().npu().cpu(), original.t())


def test_shared_storage_survives_a_file():
    whole = per_tensor(torch.qint8).npu()
    a, b = through_file((whole, whole[1:]))
    assert a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()
    assert_same(b.cpu(), per_tensor(torch.qint8)[1:])


@pytest.mark.parametrize("kind", [*NESTED, "coo"])
def test_gradient_crosses_devices(kind):
    def gradient(device):
        leaf = ALL[kind]().requires_grad_()
        moved = (leaf.to(device) * 3).cpu()
        out = (
            moved.to_dense() if kind == "coo" else torch.cat([p.flatten() for p in moved.unbind()])
        )
        out.sum().backward()
        return leaf.grad

    assert_same(gradient("npu"), gradient("cpu"))


BETWEEN_DEVICES = """
import torch
floats = torch.linspace(-3, 3, 12).reshape(4, 3)
nested = [torch.ones(2, 3), torch.ones(4, 3)]
scales = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
for t in (
    torch.quantize_per_tensor(floats, 0.05, 7, torch.qint8),
    torch.quantize_per_channel(floats, scales, torch.arange(4), 0, torch.qint8),
    torch.nested.nested_tensor(nested),
    torch.nested.nested_tensor(nested, layout=torch.jagged),
    floats.to_sparse(),
    floats.to_sparse_csr(),
):
    there = t.to("npu:0").to("npu:1")
    assert str(there.device) == "npu:1", there.device
    target = t.to("npu:1").copy_(t.to("npu:0")) if not t.layout == torch.jagged else there
    for back in (there.cpu(), target.cpu()):
        if t.is_nested:
            assert all(torch.equal(a, b) for a, b in zip(back.unbind(), t.unbind(), strict=True))
        elif t.is_quantized:
            assert torch.equal(back, t)
        else:
            assert torch.equal(back.to_dense(), t.to_dense())
print("same")
"""


def test_between_two_devices():
    assert fresh.output(BETWEEN_DEVICES, SOFTNPU_DEVICE_COUNT="2").endswith("same")
